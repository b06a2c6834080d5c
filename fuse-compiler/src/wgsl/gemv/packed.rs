//! Gemvs that read right operands by whole words of quantized weights; each step of a k-group (`k_groups`) is a run.
//!
//! A run is 32 depths of the left operand, in registers, and their weights, which share a scale. For one row it is
//! applied once: `Σ x·(q·s + o) = s·Σ x·(q - c) + (o + c·s)·Σ x`, where `c` is the middle code, the 0 of symmetric
//! schemes. Several rows share dequantized weights.
//!
//! The left operand is used as stored, or rounded to 8 bits (`int8`).

use fuse_artifact::{
    Pass,
    schedule::{GemvRhs, LANES},
};

use super::{
    element,
    int8::Round,
    k_groups::KGroups,
    runs::{Column, Runs},
};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Block, Scalar, Ty, Val},
    wgsl::{
        names::Names,
        operand::Operand,
        shader::Shader,
        weights::{PackedWeights, RUN, Run},
    },
};

/// Depths in registers at a time, if rows share dequantized weights.
const CHUNK: u32 = 4;

/// Exponent bits of a float, all set in infinities and NaN.
const EXPONENT: u32 = 0x7f80_0000;

pub(super) fn packed(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let int8 = matches!(k_groups.0.rhs, GemvRhs::Int8 { .. });
    debug_assert!(!int8 || k_groups.rows() == 1, "rows of 8 bits have workgroups of their own");
    k_groups.pass(group, contraction, names, |shader, b, place| {
        let weights = &PackedWeights::all(group, contraction);
        weights.iter().for_each(|weights| weights.declare(shader));
        let columns = Column::all(shader, b, weights, place);
        let lhs = Operand::by_vectors(group, &contraction.lhs, "a", LANES);
        let sums = k_groups.declare_sums(b, &place.axes, Ty::vector(Scalar::F32, LANES));
        let runs = Runs { lhs, place, k_groups: &k_groups, weights, columns, sums };
        match int8 {
            true => runs.multiply_rounded(shader, b),
            false => runs.multiply(shader, b),
        }
        if k_groups.rows() == 1 {
            runs.add_again(shader, b);
        }
        runs.sums
    })
}

impl<'k> Runs<'_, 'k> {
    /// Accumulates products: k-groups interleave the runs.
    fn multiply(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        self.each(b, self.place.depths, |b, k| {
            let mut groups = vec![];
            for weights in self.weights {
                let group = weights.group(shader, k);
                groups.push(b.bind(format!("{}_group", weights.name()), group));
            }
            let runs = self.load(shader, b, k, &groups);
            match self.k_groups.rows() {
                1 => self.add_row(shader, b, k, runs),
                _ => self.add_rows(shader, b, k, runs),
            }
        });
    }

    /// As [`multiply`](Self::multiply), with an 8-bit left operand.
    fn multiply_rounded(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        Round::each(shader, b, self, self.k_groups.invocations(), |shader, b, round| {
            self.each(b, round.depths, |b, k| {
                let (run, groups) = round.locate(b, self, k);
                let runs = self.load(shader, b, k, &groups);
                let left = round.read(b, run);
                for (column, run) in self.columns.iter().zip(&runs) {
                    b.scope(|b| {
                        let scale = column.weights.unpack_scale(shader, b, run);
                        left.add(b, &column.weights, (run, scale), column.sum(&self.sums, 0));
                    });
                }
            });
        });
    }

    /// Sums centered codes and applies the scale once. Uncentered, a large activation at a weight of 0 would lose the
    /// others' digits, since its code and the offset cancel. Four interleaved sums serve asymmetric schemes, whose 0 is
    /// elsewhere.
    fn add_row(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, k: Val<'k>, runs: Vec<Run<'k>>) {
        let x = self.read_vectors(shader, b, 0, k, RUN / LANES);
        let x_sums = b.bind("x_sums", ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7])));
        let x_sum = b.bind("x_sum", (x_sums.at(0) + x_sums.at(1)) + (x_sums.at(2) + x_sums.at(3)));
        for (column, mut run) in self.columns.iter().zip(runs) {
            let (weights, name, lanes) = (&column.weights, &column.weights.name, column.weights.weights.lanes());
            b.scope(|b| {
                let scale = weights.unpack_scale(shader, b, &run);
                let middle = b.bind(format!("{name}_middle"), weights.middle(scale));
                let mut parts: Vec<Val<'k>> = vec![];
                for i in 0..RUN {
                    weights.bind_field(b, &mut run, i);
                    let (lane, code) = (i % LANES, weights.centered_code(&run, i));
                    let x = element(&x, i).splat(lanes);
                    match parts.get(lane as usize) {
                        Some(&part) => b.set(part, x.fma(code, part)),
                        None => parts.push(b.var(format!("{name}_part{lane}"), x * code)),
                    }
                }
                let part = (parts[0] + parts[1]) + (parts[2] + parts[3]);
                let sum = column.sum(&self.sums, 0);
                b.set(sum, part.fma(scale.scale, x_sum.splat(lanes).fma(middle, sum)));
            });
        }
    }

    fn add_rows(&self, shader: &mut Shader<'k>, b: &mut Block<'k>, k: Val<'k>, mut runs: Vec<Run<'k>>) {
        let columns = &self.columns;
        let scales: Vec<_> =
            columns.iter().zip(&runs).map(|(column, run)| column.weights.unpack_scale(shader, b, run)).collect();
        for first in (0..RUN).step_by(CHUNK as usize) {
            for (Column { weights, .. }, run) in columns.iter().zip(&mut runs) {
                (first..first + CHUNK).for_each(|i| weights.bind_field(b, run, i));
            }
            b.scope(|b| {
                let mut values = vec![];
                for ((Column { weights, .. }, run), &scale) in columns.iter().zip(&runs).zip(&scales) {
                    let of_run = (first..first + CHUNK).map(|i| weights.run_value(run, scale, i));
                    values.push(b.bind_all(&format!("{}_value", weights.name), &of_run.collect::<Vec<_>>()));
                }
                self.k_groups.bundles(b, &self.place.axes, |b, bundle| {
                    for row in bundle {
                        b.scope(|b| {
                            let x = self.read_vectors(shader, b, row, k + first, CHUNK / LANES);
                            for (column, values) in columns.iter().zip(&values) {
                                let (sum, lanes) = (column.sum(&self.sums, row), column.weights.weights.lanes());
                                for (i, &value) in (0..).zip(values) {
                                    b.set(sum, element(&x, i).splat(lanes).fma(value, sum));
                                }
                            }
                        });
                    }
                });
            });
        }
    }

    /// Recomputes with dequantized values if a sum of codes is not finite: infinity times a code and times the offset
    /// would cancel, or a code 0 would lose the infinity.
    fn add_again(&self, shader: &mut Shader<'k>, b: &mut Block<'k>) {
        let arena = shader.arena();
        let infinite = |sum: Val<'k>| {
            let exponents = sum.bitcast(Scalar::U32) & EXPONENT;
            arena.call("any", &[exponents.eq(EXPONENT)], Ty::BOOL)
        };
        let sums = || self.sums.iter().map(|sums| sums[0]);
        let any = sums().map(infinite).reduce(Val::or).expect("a contraction has products");
        b.when(any, |b| {
            sums().for_each(|sum| b.set(sum, arena.construct(sum.ty(), &[])));
            let [begin, end] = self.place.depths;
            let step = self.k_groups.count() * RUN;
            b.range("k", begin + self.place.k_group * RUN, end, step, |b, k| {
                let chunk = self.weights[0].weights.chunk();
                b.range("depth", k, k + RUN, chunk, |b, depth| {
                    let x = self.read_vectors(shader, b, 0, depth, chunk / LANES);
                    for column in &self.columns {
                        b.scope(|b| self.add_chunk(shader, b, column, depth, &x));
                    }
                });
            });
        });
    }

    fn add_chunk(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        column: &Column<'_, 'k>,
        depth: Val<'k>,
        x: &[Val<'k>],
    ) {
        let (weights, sum) = (&column.weights, column.sum(&self.sums, 0));
        let chunk = weights.declare_chunk(b);
        weights.load(shader, b, &chunk, depth);
        let (codes, scale) = weights.unpack(shader, b, &chunk);
        for i in 0..weights.weights.weights.chunk() {
            let value = weights.value(shader, codes, scale, i);
            b.set(sum, sum + element(x, i).splat(value.ty().lanes()) * value);
        }
    }
}
