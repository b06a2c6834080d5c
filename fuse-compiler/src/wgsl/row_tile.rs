//! Register tiles of rows: products of attentions and weighted sums with slices in workgroup memory.
//!
//! Neighboring invocations share rows. Each has groups of four rows, spread over the tile, and vectors of four keys or
//! columns, `across` vectors apart. Weights pass through workgroup memory, transposed: by key, then by row.

use std::collections::BTreeSet;

use super::{
    attention::VECTOR,
    rank_one,
    shader::Shader,
    stage::{ElementStage, Slice, swizzle},
};
use crate::kernel::{Block, Ty, Val};

#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) rows: u32,
    pub(super) invocation_rows: u32,
    pub(super) across: u32,
    pub(super) keys: u32,
    /// Depth of a product's slice.
    pub(super) depth_step: u32,
    /// Keys of a slice of values.
    pub(super) value_step: u32,
}

pub(super) struct RowTile<'k> {
    pub(super) shape: Shape,
    row0: Val<'k>,
    pub(super) tx: Val<'k>,
    /// `tx`, swizzled for each four steps.
    turned: Vec<Val<'k>>,
    pub(super) rows: Vec<Val<'k>>,
    stage: Val<'k>,
    weights: Val<'k>,
}

/// A type of accumulators with so many vectors per row, and its update function.
#[derive(Clone, Copy)]
pub(super) struct SumsType {
    ty: Ty,
    function: &'static str,
    vectors: u32,
}

#[derive(Clone, Copy)]
pub(super) struct Sums<'k> {
    sums: Val<'k>,
    ty: SumsType,
}

impl SumsType {
    pub(super) fn declare(
        shader: &mut Shader<'_>,
        name: &str,
        function: &'static str,
        [rows, vectors]: [u32; 2],
    ) -> Self {
        let ty = rank_one::declare(shader, [name, function], VECTOR, [rows, vectors], &[String::new()]);
        Self { ty, function, vectors }
    }

    pub(super) fn var<'k>(self, shader: &Shader<'k>, b: &mut Block<'k>, name: impl Into<String>) -> Sums<'k> {
        Sums { sums: b.var(name, shader.arena().construct(self.ty, &[])), ty: self }
    }
}

impl<'k> Sums<'k> {
    pub(super) fn at(self, i: u32, j: u32) -> Val<'k> {
        self.sums.field(&rank_one::field("", i, j))
    }

    pub(super) fn row(self, i: u32) -> impl Iterator<Item = Val<'k>> {
        (0..self.ty.vectors).map(move |j| self.at(i, j))
    }
}

impl<'k> RowTile<'k> {
    pub(super) fn new(
        shader: &Shader<'k>,
        b: &mut Block<'k>,
        shape: Shape,
        row0: Val<'k>,
        [stage, weights]: [Val<'k>; 2],
    ) -> Self {
        let Shape { rows, invocation_rows, across, depth_step, value_step, .. } = shape;
        let tx = b.bind("tx", shader.local() % across);
        let ty = b.bind("ty", shader.local() / across);
        let vector = |g: u32| b.bind(format!("rows{g}"), ty + g * (rows / invocation_rows));
        let rows = (0..invocation_rows / 4).map(vector).collect();
        let turns = (0..depth_step.max(value_step).min(16)).step_by(4).map(swizzle);
        let turned = turns.map(|turn| b.bind(format!("tx{turn}"), tx ^ turn)).collect();
        Self { shape, row0, tx, turned, rows, stage, weights }
    }

    pub(super) const fn row_vectors(&self) -> u32 {
        self.shape.rows / 4
    }

    pub(super) fn row(&self, i: u32) -> Val<'k> {
        self.row0 + self.rows[i as usize / 4] * 4 + i % 4
    }

    /// First key or column of the invocation's `j`-th vector.
    pub(super) fn column(&self, j: u32) -> Val<'k> {
        (self.tx + j * self.shape.across) * 4
    }

    /// Accumulates the products of slices of a left operand and keys. `place` swizzles a vector of rows in its slice.
    pub(super) fn add_products(
        &self,
        b: &mut Block<'k>,
        sums: Sums<'k>,
        lhs: &Slice<'k>,
        place: impl Fn(Val<'k>, u32) -> Val<'k>,
    ) {
        let steps = self.shape.depth_step;
        let turns: BTreeSet<u32> = (0..steps).map(|d| lhs.turn(d)).collect();
        let mut places = vec![];
        for (&rows, g) in self.rows.iter().zip(0..) {
            for &turn in &turns {
                places.push((g, turn, b.bind(format!("lhs{g}_{turn}"), place(rows, turn))));
            }
        }
        for d in 0..steps {
            let rows = places.iter().filter(|(_, turn, _)| *turn == lhs.turn(d));
            let rows = rows.map(|&(_, _, at)| lhs.array.at(at + d * self.row_vectors()));
            self.add_step(b, sums, rows, d);
        }
    }

    fn add_step(&self, b: &mut Block<'k>, Sums { sums, ty }: Sums<'k>, rows: impl Iterator<Item = Val<'k>>, step: u32) {
        let first = self.turned[step as usize / 4 % 4];
        let columns = (0..ty.vectors).map(|j| self.stage.at(first + (step * ty.vectors + j) * self.shape.across));
        let arguments: Vec<Val<'k>> = [sums.pointer()].into_iter().chain(rows).chain(columns).collect();
        b.run(sums.arena().call(ty.function, &arguments, Ty::Void));
    }

    /// Number of swizzles of a key's row vectors, against bank conflicts.
    const fn weight_turns(&self) -> u32 {
        if self.row_vectors() < 8 { self.row_vectors() } else { 8 }
    }

    /// Stores weights to workgroup memory; `weight` returns a row's vectors of four keys, and `number` makes names
    /// unique.
    pub(super) fn write_weights(&self, b: &mut Block<'k>, number: usize, weight: impl Fn(u32) -> Val<'k>) {
        for (&rows, g) in self.rows.iter().zip(0..) {
            let place = b.bind(format!("weight{number}_{g}"), rows ^ (self.tx % self.weight_turns()));
            for e in 0..4 {
                let weights = [0, 1, 2, 3].map(|i| weight(4 * g + i).lane(e));
                let weights = self.tx.arena().construct(VECTOR, &weights);
                b.set(self.weights.at((self.tx * 4 + e) * self.row_vectors() + place), weights);
            }
        }
    }

    /// Accumulates the products of weights and values of the keys `begin .. end` of the step at `k0`. `next` loads the
    /// slice after the step's last.
    pub(super) fn add_values(
        &self,
        shader: &mut Shader<'k>,
        b: &mut Block<'k>,
        (sums, values): (Sums<'k>, &ElementStage<'k>),
        [k0, key_end]: [Val<'k>; 2],
        [begin, end]: [u32; 2],
        next: impl FnOnce(&mut Shader<'k>, &mut Block<'k>),
    ) {
        let Shape { keys, value_step, .. } = self.shape;
        let zero = shader.u32(0);
        let begins = |v0: Val<'k>| (k0 + v0).lt(key_end);
        b.range_while("v0", shader.u32(begin), end, value_step, begins, |b, v0| {
            values.fill(shader, b, [k0 + v0, zero], zero);
            b.workgroup_barrier();
            let more = (v0 + value_step).lt(keys).and((k0 + v0 + value_step).lt(key_end));
            b.when(more, |b| values.fetch(shader, b, [k0 + v0 + value_step, zero]));
            b.otherwise(|b| next(shader, b));
            let w0 = if begin > 0 { b.bind("w0", v0 - begin) } else { v0 };
            // Vectors of a key's rows are swizzled by its group of four.
            let mut places = vec![];
            for turn in 0..value_step / 4 {
                let place = |(&rows, g): (&Val<'k>, u32)| {
                    let moved = rows ^ ((w0 / 4 + turn) % self.weight_turns());
                    b.bind(format!("at{g}_{turn}"), w0 * self.row_vectors() + moved)
                };
                places.push(self.rows.iter().zip(0..).map(place).collect::<Vec<_>>());
            }
            for k in 0..value_step {
                let rows = places[k as usize / 4].iter().map(|&at| self.weights.at(at + k * self.row_vectors()));
                self.add_step(b, sums, rows, k);
            }
            b.workgroup_barrier();
        });
    }
}
