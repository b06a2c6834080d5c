//! The operands of a tile.

use fuse_artifact::schedule::{TILE_PAD, Tile};

use crate::fusion::Contraction;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Side {
    Lhs,
    Rhs(usize),
}

impl Side {
    pub(super) fn all(contraction: &Contraction) -> Vec<Self> {
        std::iter::once(Self::Lhs).chain((0..contraction.rhs.len()).map(Self::Rhs)).collect()
    }

    /// The side's workgroup array: for each depth, its rows or columns in vectors of four.
    pub(super) fn array(self, contraction: &Contraction) -> String {
        match self {
            Self::Lhs => "lhs_tile".to_owned(),
            Self::Rhs(_) if contraction.rhs.len() == 1 => "rhs_tile".to_owned(),
            Self::Rhs(product) => format!("rhs_tile{product}"),
        }
    }

    pub(super) const fn span(self, tile: Tile) -> u32 {
        match self {
            Self::Lhs => tile.rows,
            Self::Rhs(_) => tile.columns,
        }
    }

    pub(super) const fn row_vectors(self, tile: Tile) -> u32 {
        (self.span(tile) + TILE_PAD) / 4
    }

    /// Axes of the operand's space: the summed one, and the other one.
    pub(super) const fn axes(self, batch: usize) -> [usize; 2] {
        match self {
            Self::Lhs => [batch + 1, batch],
            Self::Rhs(_) => [batch, batch + 1],
        }
    }

    /// Name of the workgroup's first row or column.
    pub(super) const fn origin(self) -> &'static str {
        match self {
            Self::Lhs => "row0",
            Self::Rhs(_) => "column0",
        }
    }
}
