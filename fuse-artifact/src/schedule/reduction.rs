//! Reductions of rows or columns.

use std::fmt::{self, Display, Formatter};

use super::split_suffix;

/// A schedule of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Direction of neighboring invocations.
    pub order: ReductionOrder,
    /// Kept indices per workgroup.
    pub rows: u32,
    /// Invocations that share a kept index; of columns, `lanes` neighboring ones.
    pub invocations: u32,
    /// Elements per load.
    pub lanes: u32,
    /// Kept and reduced axes that the shader can index.
    pub axes: [u8; 2],
    /// The kernel has more axes than these; some must merge at launch.
    pub merged: bool,
    /// Workgroups share a kept index, with a pass per dependent reduction and one more.
    pub split: bool,
}

/// Direction of neighboring invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionOrder {
    /// Along the innermost reduced axis.
    Rows {
        /// Loads that an invocation keeps of its row.
        loads: RowLoads,
        /// Minimum subgroup size for combining partial results; `None`: workgroup memory alone.
        subgroups: Option<u32>,
    },
    /// Along the innermost kept axis.
    Columns,
    /// Like `Columns`, for scatter-adds: sums of elements whose index equals the coordinate along a kept axis. A
    /// workgroup scans the indices and reads only its own elements.
    Scatter {
        /// Compared kept axis.
        axis: u8,
    },
}

/// Loads that an invocation keeps of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLoads {
    /// Number of loads in registers; each element is read once.
    Held(u32),
    /// None: reads rows of any length once per dependent reduction, and once for outputs of the row's length.
    Streamed,
}

impl Reduction {
    /// An unsplit schedule with scalar loads.
    pub const fn new(order: ReductionOrder, [rows, invocations]: [u32; 2], axes: [u8; 2]) -> Self {
        Self { order, rows, invocations, lanes: 1, axes, merged: false, split: false }
    }

    /// Loads in flight for streamed rows.
    pub const UNROLL: u32 = 4;

    /// Loads of an access that an invocation has in flight.
    pub const fn slots(&self) -> u32 {
        match self.order {
            ReductionOrder::Rows { loads: RowLoads::Held(loads), .. } => loads,
            // Fallback schedules have short shaders.
            ReductionOrder::Rows { loads: RowLoads::Streamed, .. } if self.lanes == 1 && self.rows > 1 => 1,
            ReductionOrder::Rows { .. } | ReductionOrder::Columns | ReductionOrder::Scatter { .. } => Self::UNROLL,
        }
    }

    /// True if neighboring invocations lie along the innermost kept axis.
    pub const fn is_columns(&self) -> bool {
        match self.order {
            ReductionOrder::Rows { .. } => false,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => true,
        }
    }

    /// Compared kept axis of a scatter-add.
    pub const fn scatters(&self) -> Option<u8> {
        match self.order {
            ReductionOrder::Rows { .. } | ReductionOrder::Columns => None,
            ReductionOrder::Scatter { axis } => Some(axis),
        }
    }

    /// Indices that a workgroup of a scatter-add scans before it reads elements.
    pub const CHUNK: u32 = 1 << 12;

    /// Maximum row length of a scatter-add; one invocation may read a whole row. Software drivers end its loops after
    /// 65535 rounds in total.
    pub const LONGEST_SCATTERED: u32 = Self::UNROLL << 15;

    /// Minimum subgroup size for combining partial results, if any.
    pub const fn subgroups(&self) -> Option<u32> {
        match self.order {
            ReductionOrder::Rows { subgroups, .. } => subgroups,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => None,
        }
    }

    /// Loads held in registers.
    pub const fn held(&self) -> Option<u32> {
        match self.order {
            ReductionOrder::Rows { loads: RowLoads::Held(loads), .. } => Some(loads),
            ReductionOrder::Rows { .. } | ReductionOrder::Columns | ReductionOrder::Scatter { .. } => None,
        }
    }

    /// Invocations per workgroup.
    pub const fn workgroup(&self) -> u32 {
        match self.order {
            ReductionOrder::Rows { .. } => self.rows * self.invocations,
            ReductionOrder::Columns | ReductionOrder::Scatter { .. } => self.rows / self.lanes * self.invocations,
        }
    }
}

impl ReductionOrder {
    /// Rows with `loads`, combined in workgroup memory alone.
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
