//! Reductions of rows or columns.

use std::fmt::{self, Display, Formatter};

use super::split_suffix;

/// The sizes of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Where neighbouring invocations lie.
    pub order: ReductionOrder,
    /// Kept indices of a workgroup.
    pub rows: u32,
    /// Invocations that share a kept index, or of columns `lanes` neighbouring ones.
    pub invocations: u32,
    /// Elements per load.
    pub lanes: u32,
    /// Kept and reduced axes that the text can index.
    pub axes: [u8; 2],
    /// Whether those are fewer than the kernel has: some must merge at launch.
    pub merged: bool,
    /// Whether several workgroups share a kept index, with a pass for each dependent reduction and one more.
    pub split: bool,
}

/// The direction along which neighbouring invocations lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionOrder {
    /// Along the innermost reduced axis.
    Rows {
        /// What an invocation keeps of its row.
        loads: RowLoads,
        /// The smallest subgroup for the operations by which its invocations combine what they found; without, they use
        /// workgroup memory alone.
        subgroups: Option<u32>,
    },
    /// Along the innermost kept axis.
    Columns,
    /// As `Columns`, for sums of elements that count only where an integer of theirs is the coordinate along a kept axis
    /// (scatter-add): a workgroup looks through these integers, and reads only elements that count for one of its own.
    Scatter {
        /// The axis, of the kept ones.
        axis: u8,
    },
}

/// What an invocation keeps of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLoads {
    /// So many loads in registers, so that each element is read once.
    Held(u32),
    /// Nothing: rows of any length are read once per dependent reduction, and once more for outputs of the row's length.
    Streamed,
}

impl Reduction {
    /// The reduction by one workgroup for its rows, which loads one element at a time.
    pub const fn new(order: ReductionOrder, [rows, invocations]: [u32; 2], axes: [u8; 2]) -> Self {
        Self { order, rows, invocations, lanes: 1, axes, merged: false, split: false }
    }

    /// Loads under way at a time where rows are streamed.
    pub const UNROLL: u32 = 4;

    /// Loads of an access that an invocation has under way at a time.
    pub const fn slots(&self) -> u32 {
        match self.order {
            ReductionOrder::Rows { loads: RowLoads::Held(loads), .. } => loads,
            // Schedules for whatever is left are kept short.
            ReductionOrder::Rows { loads: RowLoads::Streamed, .. } if self.lanes == 1 && self.rows > 1 => 1,
            ReductionOrder::Rows { .. } | ReductionOrder::Columns | ReductionOrder::Scatter { .. } => Self::UNROLL,
        }
    }

    /// Whether neighbouring invocations lie along the innermost kept axis.
    pub const fn is_columns(&self) -> bool {
        match self.order {
            ReductionOrder::Rows { .. } => false,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => true,
        }
    }

    /// The kept axis whose coordinates decide which elements count, if they do.
    pub const fn scatters(&self) -> Option<u8> {
        match self.order {
            ReductionOrder::Rows { .. } | ReductionOrder::Columns => None,
            ReductionOrder::Scatter { axis } => Some(axis),
        }
    }

    /// Integers that a workgroup of a scatter-add looks through before it reads what counts.
    pub const CHUNK: u32 = 1 << 12;

    /// Elements of the longest row of a scatter-add, of which an invocation may read all: drivers that run on processors end its
    /// loops after 65535 rounds in all.
    pub const LONGEST_SCATTERED: u32 = Self::UNROLL << 15;

    /// The smallest subgroup for the operations by which invocations combine what they found, if they do.
    pub const fn subgroups(&self) -> Option<u32> {
        match self.order {
            ReductionOrder::Rows { subgroups, .. } => subgroups,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => None,
        }
    }

    /// Loads that are held in registers.
    pub const fn held(&self) -> Option<u32> {
        match self.order {
            ReductionOrder::Rows { loads: RowLoads::Held(loads), .. } => Some(loads),
            ReductionOrder::Rows { .. } | ReductionOrder::Columns | ReductionOrder::Scatter { .. } => None,
        }
    }

    /// Invocations of a workgroup.
    pub const fn workgroup(&self) -> u32 {
        match self.order {
            ReductionOrder::Rows { .. } => self.rows * self.invocations,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => self.rows / self.lanes * self.invocations,
        }
    }
}

impl ReductionOrder {
    /// Rows whose invocations keep `loads`, and combine what they found in workgroup memory alone.
    pub const fn rows(loads: RowLoads) -> Self {
        Self::Rows { loads, subgroups: None }
    }
}

impl Display for Reduction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { rows, invocations, axes: [kept, reduced], .. } = *self;
        match self.order {
            ReductionOrder::Rows { .. } if rows == 1 => write!(f, "row {invocations}")?,
            ReductionOrder::Rows { .. } => write!(f, "rows {rows}x{invocations}")?,
            ReductionOrder::Columns => write!(f, "columns {rows}x{invocations}")?,
            ReductionOrder::Scatter { .. } => write!(f, "scatter {rows}")?,
        }
        if self.merged {
            write!(f, " axes {kept}+{reduced}")?;
        }
        match self.order {
            ReductionOrder::Rows { loads: RowLoads::Held(loads), .. } => write!(f, " held {loads}")?,
            ReductionOrder::Rows { loads: RowLoads::Streamed, .. } => f.write_str(" streamed")?,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => {}
        }
        if self.lanes == 1 {
            f.write_str(" scalar")?;
        }
        if let ReductionOrder::Rows { subgroups: Some(_), .. } = self.order {
            f.write_str(" subgroups")?;
        }
        f.write_str(split_suffix(self.split))
    }
}
