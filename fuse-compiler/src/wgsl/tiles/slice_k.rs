//! Slice-K tiles: right operands are read from buffers where they are multiplied, and the k-groups' sums are added.
//!
//! With few rows, a right element has so little reuse that workgroup memory and barriers would take longer than the
//! multiplications. Each k-group has its own depths of a step, so that many loads are in flight; a balanced tree adds
//! their sums.

use super::{MatmulKernel, Side};
use crate::{
    kernel::{Block, Ty, Val},
    schedule::contraction::Direction,
    wgsl::operand::read,
};

/// Outstanding loads of an invocation, per vector of columns.
const LOADS: u32 = 8;

impl<'k> MatmulKernel<'k> {
    /// True if all operands are contiguous along the depth: a row's depths of a step are then stored side by side.
    pub(super) fn slices_along_depth(&self) -> bool {
        self.tile.k_groups() > 1 && self.scheduled.rhs[0] == Direction::Depth
    }

    /// Stride of left rows in vectors of four depths, if depths are side by side: padded by one against bank conflicts.
    pub(super) const fn depth_vectors(&self) -> u32 {
        self.tile.depth / 4 + 1
    }

    /// Binds `k_group`, and returns the invocation's index in it.
    pub(super) fn locate_k_group(&mut self) -> Val<'k> {
        let (k_groups, invocations) = (self.tile.k_groups(), self.tile.group_invocations());
        let local = self.shader.local();
        // Neighbors read neighboring elements: along the depth from k-group to k-group, or else along the columns.
        let [k_group, position] = match self.slices_along_depth() {
            true => [local % k_groups, local / k_groups],
            false => [local / invocations, local % invocations],
        };
        self.main.bind("k_group", k_group);
        self.main.bind("position", position)
    }

    /// Multiplies the step at depth `k0`: its left slice is in workgroup memory, the right operands in memory.
    pub(super) fn multiply_slice_k(&mut self, b: &mut Block<'k>, k0: Val<'k>) {
        let (depth, k_groups) = (self.tile.depth, self.tile.k_groups());
        let along_depth = self.slices_along_depth();
        let depths = if along_depth { LOADS } else { LOADS.min(depth / k_groups) };
        let end = b.bind("step_end", (k0 + depth).min(self.index("k_end")));
        let first = k0 + self.index("k_group") * if along_depth { 4 } else { depths };
        b.range("k", first, end, k_groups * depths, |b, k| match along_depth {
            true => self.dots(b, [k0, k], depths / 4),
            false => self.updates(b, [k0, k], depths),
        });
    }

    fn updates(&mut self, b: &mut Block<'k>, [k0, k]: [Val<'k>; 2], depths: u32) {
        let (left, row_vectors) = (self.slice(Side::Lhs).array, Side::Lhs.row_vectors(self.tile));
        let slice = b.bind("slice", (k - k0) * row_vectors + self.index("ty"));
        let mut rights = vec![];
        for d in 0..depths {
            for (product, j) in self.column_vectors() {
                let column = self.first_column(j).min(self.axes.columns - 4);
                rights.push(self.bind_right(b, product, &format!("{j}_{d}"), [k + d, column], 1));
            }
        }
        for (rights, d) in rights.chunks(self.column_vectors().len()).zip(0..) {
            self.update(b, [&[left.at(slice + d * row_vectors)], rights].concat());
        }
    }

    /// Accumulates dot products of this many vectors of four depths, with one right vector per column. K-groups
    /// interleave their vectors; the depth is a multiple of four.
    fn dots(&mut self, b: &mut Block<'k>, [k0, k]: [Val<'k>; 2], vectors: u32) {
        let (invocation_rows, k_groups) = (self.tile.invocation_rows, self.tile.k_groups());
        let (arena, lhs, row_step) = (self.shader.arena(), self.slice(Side::Lhs).array, self.depth_vectors());
        let slice = b.bind("slice", (k - k0) / 4);
        let mut rights = vec![];
        for v in 0..vectors {
            for (product, j) in self.column_vectors() {
                for e in 0..4 {
                    let column = (self.first_column(j) + e).min(self.axes.columns - 1);
                    let place = [k + v * k_groups * 4, column];
                    rights.push(self.bind_right(b, product, &format!("{j}_{}", 4 * v + e), place, 4));
                }
            }
        }
        for (rights, v) in rights.chunks(4 * self.column_vectors().len()).zip(0..) {
            for i in 0..invocation_rows {
                let row = self.index("ty") * 4 + super::row_in_tile(i, self.tile.rows, invocation_rows);
                let left = b.bind(format!("left{v}_{i}"), lhs.at(row * row_step + slice + v * k_groups));
                for ((product, j), columns) in self.column_vectors().into_iter().zip(rights.chunks(4)) {
                    let sum = self.sum(&self.products[product], [i, j]);
                    let dot = |&right: &Val<'k>| arena.call("dot", &[left, right], Ty::of(self.sum, 1));
                    let dots: Vec<Val<'k>> = columns.iter().map(dot).collect();
                    b.set(sum, sum + arena.construct(sum.ty(), &dots));
                }
            }
        }
    }

    fn column_vectors(&self) -> Vec<(usize, u32)> {
        let columns = self.tile.invocation_columns / 4;
        (0..self.contraction.rhs.len()).flat_map(|product| (0..columns).map(move |j| (product, j))).collect()
    }

    fn first_column(&self, j: u32) -> Val<'k> {
        self.index("column0") + (self.index("tx") + j * (self.tile.columns / self.tile.invocation_columns)) * 4
    }

    /// Binds `right{product}_{suffix}`, the vector at a depth and column, with `depths` elements along the depth.
    /// Beyond the end it is zero.
    fn bind_right(
        &mut self,
        b: &mut Block<'k>,
        product: usize,
        suffix: &str,
        [depth, column]: [Val<'k>; 2],
        depths: u32,
    ) -> Val<'k> {
        let (operand, end) = (self.operand(Side::Rhs(product)), self.index("k_end"));
        let at: Vec<Val<'k>> = self.axes.batch().into_iter().chain([depth.min(end - depths), column]).collect();
        let value = read(&mut self.shader, &operand, &at);
        let zero = self.shader.arena().construct(value.ty(), &[]);
        b.bind(format!("right{product}_{suffix}"), depth.lt(end).select(value, zero))
    }

    pub(super) fn add_k_groups(&mut self, b: &mut Block<'k>) {
        let invocations = self.tile.group_invocations();
        let sums = self.all_sums();
        let count = self.tile.handed_vectors(self.products.len() as u32);
        let handed = self.shader.workgroup_array("handed", Ty::of(self.sum, 4), count);
        let [k_group, position] = ["k_group", "position"].map(|name| self.index(name));
        let place = |k_group: Val<'k>, s: u32| handed.at((k_group * sums.len() as u32 + s) * invocations + position);
        let mut left = self.tile.k_groups() / 2;
        while left > 0 {
            b.when(k_group.ge(left).and(k_group.lt(2 * left)), |b| {
                for (&sum, s) in sums.iter().zip(0..) {
                    b.set(place(k_group - left, s), sum);
                }
            });
            b.workgroup_barrier();
            b.when(k_group.lt(left), |b| {
                for (&sum, s) in sums.iter().zip(0..) {
                    b.set(sum, sum + place(k_group, s));
                }
            });
            b.workgroup_barrier();
            left /= 2;
        }
    }
}
