//! [`Step`]: one dispatch of a launch, ready but for buffers and host scalars.

use std::sync::Arc;

use fuse_artifact::Slot;

use crate::context::{error::Error, label::Label, pipeline::Pipeline};

pub(crate) struct Step {
    pub(crate) label: Label,
    pub(crate) pipeline: Arc<Pipeline>,
    /// Buffers from binding 1, scratch memory as a temporary.
    pub(crate) slots: Box<[Slot]>,
    pub(crate) filled: Filled,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filled {
    /// The uniform block; host scalars are 0.
    pub(crate) words: Vec<u32>,
    /// Host scalars: word and parameter.
    pub(crate) scalars: Vec<(u16, u16)>,
    /// Workgroups in x and y.
    pub(crate) grid: [u32; 2],
    pub(crate) workgroups: u32,
}

impl Filled {
    /// A grid without words. `limit` is the device's, per dimension.
    pub(crate) fn new(kernel: &str, workgroups: u32, limit: u32) -> Result<Self, Error> {
        let grid = grid(workgroups, limit);
        if grid[1] > limit {
            return Err(Error::TooLarge {
                what: format!("kernel `{kernel}`"),
                limit: "workgroups of a dispatch",
                needed: workgroups.into(),
                allowed: u64::from(limit) * u64::from(limit),
            });
        }
        Ok(Self { words: Vec::new(), scalars: Vec::new(), grid, workgroups })
    }
}

/// Workgroups in x and y, with few idle ones.
fn grid(workgroups: u32, limit: u32) -> [u32; 2] {
    let y = workgroups.div_ceil(limit.max(1)).max(1);
    [workgroups.div_ceil(y), y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_fold_with_few_idle_workgroups() {
        assert_eq!(grid(65535, 65535), [65535, 1]);
        assert_eq!(grid(65536, 65535), [32768, 2]);
        for workgroups in [1, 2, 65537, 131_071, 1_000_003, u32::MAX] {
            let [x, y] = grid(workgroups, 65535);
            let total = u64::from(x) * u64::from(y);
            assert!(total >= workgroups.into() && total - u64::from(workgroups) < y.into());
        }
    }
}
