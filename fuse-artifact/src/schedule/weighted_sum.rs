//! Weighted sums: a workgroup keeps rows of the sums and walks over the keys, whose weights it computes from products.

use std::fmt::{self, Display, Formatter};

use super::LANES;

/// Sizes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSum {
    /// Rows of a workgroup.
    pub rows: u32,
    /// Rows per invocation, a multiple of 4.
    pub invocation_rows: u32,
    /// Invocations that share a row; they are neighbors.
    pub across: u32,
    /// Depth of one load of operands of products into workgroup memory, a multiple of 4.
    pub depth_step: u32,
    /// Keys of one load of what is summed, a multiple of 4 that divides [`keys`](Self::keys).
    pub value_step: u32,
    /// The largest number of columns, a multiple of `4·across`.
    pub columns: u32,
    /// Elements per load, 4 or 1.
    pub lanes: u32,
}

impl WeightedSum {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.rows / self.invocation_rows * self.across
    }

    /// Keys of one step: each invocation has a vector of weights per row.
    pub const fn keys(&self) -> u32 {
        self.across * LANES
    }

    /// Columns of an invocation, a multiple of 4.
    pub const fn outputs(&self) -> u32 {
        self.columns / self.across
    }

    /// Elements of left operands that are in workgroup memory at a time.
    pub const fn lhs_elements(&self) -> u32 {
        self.rows * self.depth_step
    }

    /// Elements of the weights that are in workgroup memory at a time: of one sum.
    pub const fn weight_elements(&self) -> u32 {
        self.rows * self.keys()
    }

    /// Elements of the memory that right operands and what is summed take turns in.
    pub const fn stage_elements(&self) -> u32 {
        let (keys, values) = (self.keys() * self.depth_step, self.value_step * self.columns);
        if keys > values { keys } else { values }
    }
}

impl Display for WeightedSum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let scalar = if self.lanes == 1 { "scalar " } else { "" };
        let [rows, keys] = [self.rows, self.keys()];
        write!(f, "{scalar}tile {rows}x{keys} {}x{LANES} head {}", self.invocation_rows, self.columns)
    }
}
