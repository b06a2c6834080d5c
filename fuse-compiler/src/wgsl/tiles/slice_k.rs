//! Slice-K tiles: the right operands are read from memory where they are multiplied, and the k-groups' sums are added.
//!
//! With few rows, a right operand's element is used so little that a trip through workgroup memory and its barriers
//! would take longer than the multiplications. Each k-group has its own depths of a step, so that many loads are on
//! their way at a time; k-groups hand their sums over in a balanced tree.

use super::{MatmulKernel, Side};
use crate::{
    schedule::contraction::Direction,
    wgsl::{builtins::vector_type, operand::read},
};

/// Loads of a right operand's vectors that an invocation has on their way at a time, for each of its vectors of columns.
const LOADS: u32 = 8;

impl<'k> MatmulKernel<'k> {
    /// Whether right operands are contiguous along the depth, and so is the left one: of a step, each row's depths are then
    /// kept side by side.
    pub(super) fn slices_along_depth(&self) -> bool {
        self.tile.k_groups() > 1 && self.scheduled.rhs[0] == Direction::Depth
    }

    /// Vectors of four depths from one row of the left slice to the next, where depths are kept side by side: one more than
    /// there are, so that rows lie in different banks.
    pub(super) const fn depth_vectors(&self) -> u32 {
        self.tile.depth / 4 + 1
    }

    /// Declares `k_group`, and `position`, which counts the invocations of a k-group.
    pub(super) fn locate_k_group(&mut self) {
        let k_groups = self.tile.k_groups();
        let invocations = self.tile.group_invocations();
        // Neighbors read neighboring elements: along the depth from k-group to k-group, or else along the columns.
        let [k_group, position] = match self.slices_along_depth() {
            true => [format!("local % {k_groups}u"), format!("local / {k_groups}u")],
            false => [format!("local / {invocations}u"), format!("local % {invocations}u")],
        };
        self.main.line(format!("let k_group = {k_group};"));
        self.main.line(format!("let position = {position};"));
    }

    /// Multiplies a step: its left slice is in workgroup memory, the right operands are in memory.
    pub(super) fn multiply_slice_k(&mut self) {
        let (depth, k_groups) = (self.tile.depth, self.tile.k_groups());
        let along_depth = self.slices_along_depth();
        let depths = if along_depth { LOADS } else { LOADS.min(depth / k_groups) };
        self.main.line(format!("let step_end = min(k0 + {depth}u, k_end);"));
        let first = format!("k0 + k_group * {}u", if along_depth { 4 } else { depths });
        self.main.line(format!("for (var k = {first}; k < step_end; k += {}u) {{", k_groups * depths));
        if along_depth {
            self.dots(depths / 4);
        } else {
            self.updates(depths);
        }
        self.main.line("}");
    }

    /// Adds the products of so many depths, each a vector of columns.
    fn updates(&mut self, depths: u32) {
        let row_vectors = Side::Lhs.row_vectors(self.tile);
        self.main.line(format!("let slice = (k - k0) * {row_vectors}u + ty;"));
        for d in 0..depths {
            for (product, j) in self.vectors() {
                let column = format!("min({}, {} - 4u)", self.first_column(j), self.axes.columns);
                let depth = format!("k + {d}u");
                self.declare_right(product, &format!("{j}_{d}"), [&depth, &column], 1);
            }
        }
        for d in 0..depths {
            let mut arguments = format!("&c, lhs_tile[slice + {}u]", d * row_vectors);
            for (product, j) in self.vectors() {
                arguments += &format!(", right{product}_{j}_{d}");
            }
            self.main.line(format!("update({arguments});"));
        }
    }

    /// Adds the products of vectors of four depths, so many of them: one right vector per column. The next vector of a k-group
    /// comes after those of the others; the depth is a multiple of four.
    fn dots(&mut self, vectors: u32) {
        let (invocation_rows, k_groups) = (self.tile.invocation_rows, self.tile.k_groups());
        let row_step = self.depth_vectors();
        self.main.line("let slice = (k - k0) / 4u;");
        let ty = vector_type(self.sum, 4);
        for v in 0..vectors {
            let depth = format!("k + {}u", v * k_groups * 4);
            for (product, j) in self.vectors() {
                for e in 0..4 {
                    let column = format!("min({} + {e}u, {} - 1u)", self.first_column(j), self.axes.columns);
                    self.declare_right(product, &format!("{j}_{}", 4 * v + e), [&depth, &column], 4);
                }
            }
        }
        for v in 0..vectors {
            for i in 0..invocation_rows {
                let row = super::row_in_tile(i, self.tile.rows, invocation_rows);
                let at = format!("(ty * 4u + {row}u) * {row_step}u + slice + {}u", v * k_groups);
                self.main.line(format!("let left{v}_{i} = lhs_tile[{at}];"));
                for (product, j) in self.vectors() {
                    let lanes = (0..4).map(|e| format!("dot(left{v}_{i}, right{product}_{j}_{})", 4 * v + e));
                    let lanes: Vec<String> = lanes.collect();
                    let p = &self.products[product];
                    self.main.line(format!("c.s{p}{i}_{j} += {ty}({});", lanes.join(", ")));
                }
            }
        }
    }

    /// The vectors of columns of an invocation, by product.
    fn vectors(&self) -> Vec<(usize, u32)> {
        let columns = self.tile.invocation_columns / 4;
        (0..self.contraction.rhs.len()).flat_map(|product| (0..columns).map(move |j| (product, j))).collect()
    }

    fn first_column(&self, j: u32) -> String {
        format!("column0 + (tx + {}u) * 4u", j * (self.tile.columns / self.tile.invocation_columns))
    }

    /// Declares `right{product}_{suffix}`, the vector at a depth and a column; `depths` of it lie along the depth. Beyond the
    /// end it is zero.
    fn declare_right(&mut self, product: usize, suffix: &str, [depth, column]: [&str; 2], depths: u32) {
        let (operand, ty) = (self.operand(Side::Rhs(product)), vector_type(self.sum, 4));
        let mut at = self.axes.batch_names();
        at.extend([format!("min({depth}, k_end - {depths}u)"), column.to_owned()]);
        let at = self.shader.raws(&at);
        let value = read(&mut self.shader, &operand, &at);
        self.main.line(format!("let right{product}_{suffix} = select({ty}(), {value}, {depth} < k_end);"));
    }

    /// Adds the sums of all k-groups to those of the first.
    pub(super) fn add_k_groups(&mut self) {
        let (invocations, names) = (self.tile.group_invocations(), self.sum_fields());
        let ty = vector_type(self.sum, 4);
        self.shader.workgroup_array_text("handed", &ty, self.tile.handed_vectors(self.products.len() as u32), 16);
        let place = |k_group: &str, s: usize| {
            format!("handed[({k_group} * {}u + {s}u) * {invocations}u + position]", names.len())
        };
        let mut left = self.tile.k_groups() / 2;
        while left > 0 {
            self.main.line(format!("if k_group >= {left}u && k_group < {}u {{", 2 * left));
            for (s, name) in names.iter().enumerate() {
                self.main.line(format!("{} = c.{name};", place(&format!("(k_group - {left}u)"), s)));
            }
            self.main.line("}");
            self.main.line("workgroupBarrier();");
            self.main.line(format!("if k_group < {left}u {{"));
            for (s, name) in names.iter().enumerate() {
                self.main.line(format!("c.{name} += {};", place("k_group", s)));
            }
            self.main.line("}");
            self.main.line("workgroupBarrier();");
            left /= 2;
        }
    }
}
