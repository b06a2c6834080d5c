//! The operands of a tile.

use fuse_artifact::schedule::{TILE_PAD, Tile};

use crate::fusion::Contraction;

/// An operand.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    /// The left operand.
    Lhs,
    /// The right operand of the product with this number.
    Rhs(usize),
}

impl Side {
    /// The operands of a contraction, the left one first.
    pub(super) fn all(contraction: &Contraction) -> Vec<Self> {
        std::iter::once(Self::Lhs).chain((0..contraction.rhs.len()).map(Self::Rhs)).collect()
    }

    /// The side's slice in workgroup memory: for each depth, its rows or columns in vectors of four.
    pub(super) fn array(self, contraction: &Contraction) -> String {
        match self {
            Self::Lhs => "lhs_tile".to_owned(),
            Self::Rhs(_) if contraction.rhs.len() == 1 => "rhs_tile".to_owned(),
            Self::Rhs(product) => format!("rhs_tile{product}"),
        }
    }

    /// Rows or columns of the side's slice.
    pub(super) const fn span(self, tile: Tile) -> u32 {
        match self {
            Self::Lhs => tile.rows,
            Self::Rhs(_) => tile.columns,
        }
    }

    /// Vectors of four from one depth of the slice to the next.
    pub(super) const fn row_vectors(self, tile: Tile) -> u32 {
        (self.span(tile) + TILE_PAD) / 4
    }

    /// The axes of the operand's space, after those of the batch: the one that is summed over, and the other one.
    pub(super) const fn axes(self, batch: usize) -> [usize; 2] {
        match self {
            Self::Lhs => [batch + 1, batch],
            Self::Rhs(_) => [batch, batch + 1],
        }
    }

    /// The workgroup's first row or column.
    pub(super) const fn origin(self) -> &'static str {
        match self {
            Self::Lhs => "row0",
            Self::Rhs(_) => "column0",
        }
    }
}
