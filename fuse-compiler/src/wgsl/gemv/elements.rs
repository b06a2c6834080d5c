//! Gemvs that read right operands by value.
//!
//! Each k-group (`k_groups`) walks down one step of the depth at a time. With partial steps, an invocation has one row
//! and masks depths beyond the end. In whole steps it reads eight depths of four columns once for all its rows, whose
//! depths it reads in vectors. K-groups then lie along the axis contiguous in the right operands.

use fuse_artifact::{Pass, schedule::LANES};

use super::{element, k_groups::KGroups};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Block, Ty, Val},
    schedule::contraction::gemv::STEP,
    wgsl::{
        epilogue::{Axes, multiply_add, rhs_prefixes, sum_dtype},
        names::Names,
        operand::{Operand, OperandPlace, load, read},
        row_prologue::{RowNames, RowPrologueKernel},
        shader::Shader,
    },
};

const ROW: RowNames<'static> = RowNames { prefix: "a_row", lanes: 1 };

pub(super) fn masked(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let lhs = Operand::by_vectors(group, &contraction.lhs, "a", 1);
    let rhs = contraction.rhs.iter().zip(rhs_prefixes(contraction));
    let rhs: Vec<_> = rhs.map(|(rhs, prefix)| Operand::by_vectors(group, rhs, prefix, LANES)).collect();
    k_groups.pass(group, contraction, names, |shader, b, place| {
        let (axes, zero) = (&place.axes, shader.u32(0));
        let rows = RowPrologueKernel::new(group, contraction, [1, k_groups.invocations()], LANES);
        if let Some(rows) = &rows {
            rows.compute(shader, b, axes, zero, 1);
            rows.declare(shader, b, ROW, &axes.at([zero, zero]), zero);
        }
        let sum = sum_dtype(group, contraction);
        let sums = k_groups.declare_sums(b, axes, Ty::of(sum, LANES));
        let [begin, end] = place.depths;
        b.range("k", begin + place.k_group * STEP, end, k_groups.count() * STEP, |b, k| {
            for e in 0..STEP {
                b.scope(|b| {
                    let inside = b.bind("inside", (k + e).lt(end));
                    let depth = b.bind("depth", (k + e).min(end - 1));
                    let left = match &rows {
                        Some(rows) => read_in_row(shader, b, &lhs, &axes.at([zero, depth]), rows),
                        None => read(shader, &lhs, &axes.at([zero, depth])),
                    };
                    let left = zero_outside(inside, left).splat(LANES);
                    for (rhs, sums) in rhs.iter().zip(&sums) {
                        let right = zero_outside(inside, read(shader, rhs, &axes.at([depth, place.column])));
                        b.set(sums[0], multiply_add(sums[0], left, right));
                    }
                });
            }
        });
        sums
    })
}

fn zero_outside<'k>(inside: Val<'k>, value: Val<'k>) -> Val<'k> {
    inside.select(value, inside.arena().construct(value.ty(), &[]))
}

pub(super) fn read_vectors<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    lhs: &Operand<'_>,
    (axes, row, depth): (&Axes<'k>, Val<'k>, Val<'k>),
    name: &str,
    vectors: u32,
) -> Vec<Val<'k>> {
    let mut vector = |i| b.bind(format!("{name}{i}"), read(shader, lhs, &axes.at([row, depth + i * LANES])));
    (0..vectors).map(&mut vector).collect()
}

/// [`read`], for a known row of a left operand.
fn read_in_row<'k>(
    shader: &mut Shader<'k>,
    b: &mut Block<'k>,
    operand: &Operand<'_>,
    at: &[Val<'k>],
    rows: &RowPrologueKernel<'_>,
) -> Val<'k> {
    load(shader, b, operand, &rows.loads(), at);
    let arena = shader.arena();
    let loaded = |access| operand.loaded(arena, access);
    let place = OperandPlace { operand, loaded: &loaded, at, accumulators: &[] };
    rows.value(shader, b, ROW, &place)
}

/// The pass of a schedule with whole steps; right operands must have the layout of the k-groups.
pub(super) fn k_aligned(group: &Group, contraction: &Contraction, names: &Names, k_groups: KGroups) -> Pass {
    let along_depth = k_groups.0.along_depth();
    let lhs = Operand::by_vectors(group, &contraction.lhs, "a", LANES);
    k_groups.pass(group, contraction, names, |shader, b, place| {
        let (arena, axes, ty) = (shader.arena(), &place.axes, Ty::of(sum_dtype(group, contraction), LANES));
        let sums = k_groups.declare_sums(b, axes, ty);
        let [begin, end] = place.depths;
        b.range("k", begin + place.k_group * STEP, end, k_groups.count() * STEP, |b, k| {
            let mut right = vec![];
            for ((rhs, prefix), suffix) in
                contraction.rhs.iter().zip(rhs_prefixes(contraction)).zip(axes.product_suffixes())
            {
                let lane_axis = if along_depth { axes.batch } else { axes.batch + 1 };
                let rhs = Operand { lane_axis, ..Operand::by_vectors(group, rhs, prefix, LANES) };
                let name = if along_depth { "column" } else { "right" };
                let mut vectors = vec![];
                for vector in 0..STEP {
                    let (depth, column) = match along_depth {
                        true => (vector / LANES * LANES, vector % LANES),
                        false => (vector, 0),
                    };
                    let value = read(shader, &rhs, &axes.at([k + depth, place.column + column]));
                    vectors.push(b.bind(format!("{name}{suffix}_{vector}"), value));
                }
                if along_depth {
                    let depths = (0..STEP).map(|depth| {
                        let columns = vectors.chunks(LANES as usize).nth((depth / LANES) as usize).unwrap_or_default();
                        let lanes: Vec<Val<'_>> = columns.iter().map(|column| column.at(depth % LANES)).collect();
                        arena.construct(ty, &lanes)
                    });
                    vectors = b.bind_all(&format!("right{suffix}"), &depths.collect::<Vec<_>>());
                }
                right.push(vectors);
            }
            k_groups.bundles(b, axes, |b, bundle| {
                for row in bundle {
                    b.scope(|b| {
                        let at = k_groups.row(place, row);
                        let left = read_vectors(shader, b, &lhs, (axes, at, k), "left", STEP / LANES);
                        for (sums, right) in sums.iter().zip(&right) {
                            let sum = sums[row as usize];
                            for (depth, &right) in (0..).zip(right) {
                                b.set(sum, multiply_add(sum, element(&left, depth).splat(LANES), right));
                            }
                        }
                    });
                }
            });
        });
        sums
    })
}
