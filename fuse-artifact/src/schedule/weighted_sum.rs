//! Weighted sums: a workgroup keeps rows of the sums and walks over the keys, whose weights it computes from products.

use std::fmt::{self, Display, Formatter};

use super::{AttentionCoopMatrix, LANES};
use crate::COOP_MATRIX_SUBGROUP;

/// How weighted sums are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightedSum {
    /// Operands and weights pass through workgroup memory.
    Tile(WeightedSumTile),
    /// The same, multiplied in cooperative matrices.
    CoopMatrix(WeightedSumCoopMatrix),
}

/// Sizes of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSumTile {
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

/// Sizes of a tile of cooperative matrices, those of attentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedSumCoopMatrix {
    /// Rows of a subgroup, a multiple of 16.
    pub rows: u32,
    /// Subgroups of a workgroup.
    pub subgroups: u32,
    /// Keys of one step, a multiple of 16.
    pub keys: u32,
    /// The depth of each product and the number of columns of every launch that it takes.
    pub head: u32,
}

impl WeightedSum {
    /// Rows of a workgroup.
    pub const fn rows(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.rows,
            Self::CoopMatrix(tile) => tile.rows * tile.subgroups,
        }
    }

    /// Keys of one step.
    pub const fn keys(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.keys(),
            Self::CoopMatrix(tile) => tile.keys,
        }
    }

    /// The largest number of columns.
    pub const fn columns(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.columns,
            Self::CoopMatrix(tile) => tile.head,
        }
    }

    /// Elements per load, 4 or 1.
    pub const fn lanes(&self) -> u32 {
        match self {
            Self::Tile(tile) => tile.lanes,
            Self::CoopMatrix(_) => LANES,
        }
    }

    /// Depth of one step of a product, and keys of one step of a sum.
    pub const fn steps(&self) -> [u32; 2] {
        match self {
            Self::Tile(tile) => [tile.depth_step, tile.value_step],
            Self::CoopMatrix(_) => [AttentionCoopMatrix::SIZE; 2],
        }
    }
}

impl WeightedSumTile {
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

impl WeightedSumCoopMatrix {
    /// Invocations of a workgroup.
    pub const fn invocations(&self) -> u32 {
        self.subgroups * COOP_MATRIX_SUBGROUP
    }

    /// Vectors of four of a slice: for each key a line of the head.
    pub const fn slice_vectors(&self) -> u32 {
        self.keys * AttentionCoopMatrix::line_vectors(self.head)
    }

    /// Vectors of four of the weights of a sum.
    pub const fn weight_vectors(&self) -> u32 {
        self.rows * self.subgroups * AttentionCoopMatrix::line_vectors(self.keys)
    }

    /// Vectors of four of all subgroups' strips for a product.
    pub const fn strip_vectors(&self) -> u32 {
        self.subgroups * AttentionCoopMatrix::VECTORS
    }
}

impl Display for WeightedSum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [rows, keys, head] = [self.rows(), self.keys(), self.columns()];
        match self {
            Self::Tile(tile) => {
                let scalar = if tile.lanes == 1 { "scalar " } else { "" };
                write!(f, "{scalar}tile {rows}x{keys} {}x{LANES} head {head}", tile.invocation_rows)
            }
            Self::CoopMatrix(tile) => write!(f, "coop-matrix {rows}x{keys} {}x{keys} head {head}", tile.rows),
        }
    }
}
