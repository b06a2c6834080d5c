//! Schedules of weighted sums: a workgroup keeps rows of the sums and steps over keys, computing weights from products.

use std::fmt::{self, Display, Formatter};

use super::{AttentionCoopMatrix, LANES};
use crate::COOP_MATRIX_SUBGROUP;

/// A tile of weighted sums.
///
/// In cooperative matrices of 16×16, four invocations share a row, and a subgroup has eight times an invocation's rows.
/// Launches must have exactly its depths and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSum {
    /// Rows per workgroup.
    pub rows: u32,
    /// Rows per invocation, a multiple of 4 except in cooperative matrices.
    pub invocation_rows: u32,
    /// Neighboring invocations that share a row.
    pub across: u32,
    /// Depth per load of product operands, a multiple of 4.
    pub depth_step: u32,
    /// Keys per load of summands, a multiple of 4 that divides [`keys`](Self::keys).
    pub value_step: u32,
    /// Maximum number of columns, a multiple of `4·across`.
    pub columns: u32,
    /// Elements per load: 4 or 1.
    pub lanes: u32,
    /// Computes products and sums in cooperative matrices.
    pub coop_matrix: bool,
}

impl WeightedSum {
    /// Invocations per workgroup.
    pub const fn invocations(&self) -> u32 {
        self.rows / self.invocation_rows * self.across
    }

    /// Keys per step: a vector of weights per invocation and row.
    pub const fn keys(&self) -> u32 {
        self.across * LANES
    }

    /// Columns per invocation, a multiple of 4.
    pub const fn outputs(&self) -> u32 {
        self.columns / self.across
    }

    /// Elements of left operands in workgroup memory at a time.
    pub const fn lhs_elements(&self) -> u32 {
        self.rows * self.depth_step
    }

    /// Elements of one sum's weights in workgroup memory at a time.
    pub const fn weight_elements(&self) -> u32 {
        self.rows * self.keys()
    }

    /// Elements of the memory shared by right operands and summands.
    pub const fn stage_elements(&self) -> u32 {
        let (keys, values) = (self.keys() * self.depth_step, self.value_step * self.columns);
        if keys > values { keys } else { values }
    }

    /// Cooperative-matrix tile with `rows` rows for each of 4 subgroups, and steps of 16 keys.
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

    /// Rows per subgroup.
    pub const fn subgroup_rows(&self) -> u32 {
        self.invocation_rows * COOP_MATRIX_SUBGROUP / self.across
    }

    /// 4-vectors of a slice: a line of columns per key.
    pub const fn slice_vectors(&self) -> u32 {
        self.keys() * AttentionCoopMatrix::line_vectors(self.columns)
    }

    /// 4-vectors of one sum's weights.
    pub const fn weight_vectors(&self) -> u32 {
        self.rows * AttentionCoopMatrix::line_vectors(self.keys())
    }

    /// 4-vectors of all subgroups' strips for a product.
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
