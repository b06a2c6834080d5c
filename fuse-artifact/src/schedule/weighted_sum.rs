//! Weighted sums: a workgroup keeps rows of the sums and walks over the keys, whose weights it computes from products.

use std::fmt::{self, Display, Formatter};

use super::{AttentionCoopMatrix, LANES};
use crate::COOP_MATRIX_SUBGROUP;

/// Sizes of a tile. In cooperative matrices of 16×16, four invocations share a row, a subgroup has eight times the rows of an
/// invocation, and depths and columns are those of every launch that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSum {
    /// Rows of a workgroup.
    pub rows: u32,
    /// Rows per invocation, a multiple of 4 but in cooperative matrices.
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
    /// Whether products and sums are computed in cooperative matrices.
    pub coop_matrix: bool,
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

    /// The tile of cooperative matrices with so many rows of each of 4 subgroups, and steps of 16 keys.
    pub const fn in_matrices(rows: u32, head: u32) -> Self {
        let (step, across) = (AttentionCoopMatrix::SIZE, AttentionCoopMatrix::SIZE / LANES);
        let invocation_rows = rows * across / COOP_MATRIX_SUBGROUP;
        Self {
            rows: 4 * rows,
            invocation_rows,
            across,
            depth_step: step,
            value_step: step,
            columns: head,
            lanes: LANES,
            coop_matrix: true,
        }
    }

    /// Rows of a subgroup.
    pub const fn subgroup_rows(&self) -> u32 {
        self.invocation_rows * COOP_MATRIX_SUBGROUP / self.across
    }

    /// Vectors of four of a slice: for each key a line of columns.
    pub const fn slice_vectors(&self) -> u32 {
        self.keys() * AttentionCoopMatrix::line_vectors(self.columns)
    }

    /// Vectors of four of the weights of a sum.
    pub const fn weight_vectors(&self) -> u32 {
        self.rows * AttentionCoopMatrix::line_vectors(self.keys())
    }

    /// Vectors of four of all subgroups' strips for a product.
    pub const fn strip_vectors(&self) -> u32 {
        self.rows / self.subgroup_rows() * AttentionCoopMatrix::VECTORS
    }
}

impl Display for WeightedSum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [rows, keys] = [self.rows, self.keys()];
        if self.coop_matrix {
            return write!(f, "coop-matrix {rows}x{keys} {}x{keys} head {}", self.subgroup_rows(), self.columns);
        }
        let scalar = if self.lanes == 1 { "scalar " } else { "" };
        write!(f, "{scalar}tile {rows}x{keys} {}x{LANES} head {}", self.invocation_rows, self.columns)
    }
}
