//! Products of few rows with a matrix: invocations have few sums, and share the depth.

use std::fmt::{self, Display, Formatter};

use super::{LANES, split_suffix};

/// The sizes of a product with few rows or few sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemv {
    /// The rows of a workgroup.
    pub rows: GemvRows,
    /// Columns of a workgroup; where it has one row, sums.
    pub columns: u32,
    /// Invocations that share a sum, or, where each has four neighbouring columns, those.
    pub depth_lanes: u32,
    /// How right operands are read.
    pub rhs: GemvRhs,
}

/// The rows of a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GemvRows {
    /// All of them.
    AtMost {
        /// How many there may be.
        rows: u32,
        /// Whether right operands lie along the depth in memory, so that invocations that share a sum are neighbours; otherwise
        /// invocations of neighbouring columns are.
        along_depth: bool,
        /// Whether several workgroups share the depth and a second pass adds their sums.
        split: bool,
    },
    /// One, of any number; right operands lie along the depth.
    One,
}

/// How right operands are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GemvRhs {
    /// Value by value.
    Elements {
        /// Whether the depth must be a multiple of a step, which spares masks and reads the left operand in vectors.
        k_aligned: bool,
    },
    /// Quantized, by whole words.
    Packed {
        /// Bits per value.
        bits: u32,
    },
    /// Quantized, by whole words; the left operand is rounded to 8 bits, and integers are multiplied.
    Int8 {
        /// Bits per value.
        bits: u32,
    },
}

impl Gemv {
    /// The most rows of a workgroup.
    pub const fn rows(&self) -> u32 {
        match self.rows {
            GemvRows::AtMost { rows, .. } => rows,
            GemvRows::One => 1,
        }
    }

    /// Whether workgroups share the depth, so that a second pass follows.
    pub const fn is_split(&self) -> bool {
        matches!(self.rows, GemvRows::AtMost { split: true, .. })
    }

    /// Whether invocations that share a sum are neighbours, which read neighbouring depths.
    pub const fn along_depth(&self) -> bool {
        !matches!(self.rows, GemvRows::AtMost { along_depth: false, .. })
    }

    /// Whether each result is of four neighbouring columns: not where invocations share a single sum.
    pub const fn stores_vectors(&self) -> bool {
        !matches!((self.rows, self.rhs), (GemvRows::One, GemvRhs::Elements { .. }))
    }

    /// Invocations that have neighbouring columns, four each.
    pub const fn across(&self) -> u32 {
        self.columns / LANES
    }
}

impl GemvRhs {
    /// Bits per value where whole words are read.
    pub const fn bits(self) -> Option<u32> {
        match self {
            Self::Elements { .. } => None,
            Self::Packed { bits } | Self::Int8 { bits } => Some(bits),
        }
    }
}

impl Display for Gemv {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.rhs {
            GemvRhs::Elements { .. } => "",
            GemvRhs::Packed { .. } => "packed ",
            GemvRhs::Int8 { .. } => "int8 ",
        })?;
        let columns = self.columns;
        match self.rows {
            GemvRows::AtMost { rows, along_depth, split } => {
                let transposed = if along_depth { "-t" } else { "" };
                write!(f, "gemv{transposed} {rows}x{columns}{}", split_suffix(split))
            }
            GemvRows::One => write!(f, "dot {columns}"),
        }
    }
}
