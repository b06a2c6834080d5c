//! Schedules of products with few rows: invocations have few sums and share the depth.

use std::fmt::{self, Display, Formatter};

use super::{LANES, split_suffix};

/// A product with few rows or few sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemv {
    /// Rows per workgroup.
    pub rows: GemvRows,
    /// Columns per workgroup; with one row, sums.
    pub columns: u32,
    /// Invocations that share a sum, or four neighboring columns.
    pub depth_lanes: u32,
    /// Loads of right operands.
    pub rhs: GemvRhs,
}

/// Rows per workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GemvRows {
    /// All rows, up to a maximum.
    AtMost {
        /// Maximum rows.
        rows: u32,
        /// Right operands are contiguous along the depth, and neighboring invocations share a sum; else these have
        /// neighboring columns.
        along_depth: bool,
        /// Split-K: workgroups share the depth, and a second pass adds their sums.
        split: bool,
    },
    /// One of any number of rows; right operands are contiguous along the depth.
    One,
}

/// Loads of right operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GemvRhs {
    /// Value by value.
    Elements {
        /// Requires a depth of whole steps: no masks, and vector loads of the left operand.
        k_aligned: bool,
    },
    /// Quantized, by whole words.
    Packed {
        /// Bits per value.
        bits: u32,
    },
    /// Quantized, by whole words; rounds the left operand to 8 bits and multiplies integers.
    Int8 {
        /// Bits per value.
        bits: u32,
    },
}

impl Gemv {
    /// Maximum rows per workgroup.
    pub const fn rows(&self) -> u32 {
        match self.rows {
            GemvRows::AtMost { rows, .. } => rows,
            GemvRows::One => 1,
        }
    }

    /// True if workgroups share the depth and a second pass follows.
    pub const fn is_split(&self) -> bool {
        matches!(self.rows, GemvRows::AtMost { split: true, .. })
    }

    /// True if neighboring invocations share a sum and read neighboring depths.
    pub const fn along_depth(&self) -> bool {
        !matches!(self.rows, GemvRows::AtMost { along_depth: false, .. })
    }

    /// True if a result is four neighboring columns; false for single sums.
    pub const fn stores_vectors(&self) -> bool {
        !matches!((self.rows, self.rhs), (GemvRows::One, GemvRhs::Elements { .. }))
    }

    /// Invocations along the columns, four columns each.
    pub const fn across(&self) -> u32 {
        self.columns / LANES
    }
}

impl GemvRhs {
    /// Bits per value for whole-word loads.
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
