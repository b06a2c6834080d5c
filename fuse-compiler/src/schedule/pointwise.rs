//! The schedule family of pointwise kernels.
//!
//! - `flat`: one row, every operand read element by element; four lanes.
//! - `rows`: up to two axes, four lanes along the inner one.
//! - `vector`: any axes, four lanes along the innermost.
//! - `strided`: fallback, one lane.

use fuse_artifact::{
    Require,
    schedule::{LANES, Pointwise},
};

use super::layout::{Along, along, is_single, vector_load};
use crate::fusion::Group;

const WORKGROUP: u32 = 256;

/// A schedule of a pointwise group.
#[derive(Clone, Debug)]
pub struct ScheduleSpec {
    /// The schedule.
    pub schedule: Pointwise,
    /// Invocations per workgroup.
    pub workgroup: u32,
    /// Requirements at launch.
    pub requires: Vec<Require>,
}

/// The group's schedules, best first.
pub fn family(group: &Group, workgroup: Option<u32>) -> Vec<ScheduleSpec> {
    let workgroup = workgroup.unwrap_or(WORKGROUP);
    let rank = group.shape.len() as u8;
    let scheduled = |rank, lanes, requires| ScheduleSpec { schedule: Pointwise { lanes, rank }, workgroup, requires };
    let mut family = vec![];
    if !group.fixed && group.accesses.iter().all(|access| moves_by_one_or_none(access, group)) {
        family.push(scheduled(1, LANES, requirements(group, 1)));
    }
    if !group.fixed && rank > 1 {
        family.push(scheduled(2, LANES, requirements(group, 2)));
    }
    // Ranks 1 and 2 are covered above, unless coordinates are values or an operand moves otherwise.
    if rank > 0 && !family.iter().any(|scheduled: &ScheduleSpec| scheduled.schedule.rank == rank) {
        family.push(scheduled(rank, LANES, requirements(group, rank)));
    }
    family.push(scheduled(rank, 1, vec![]));
    family
}

/// True if a flat shader can read the access: whole, as one element, or decided at launch.
fn moves_by_one_or_none(access: &crate::fusion::body::KernelAccess, group: &Group) -> bool {
    let rank = group.shape.len();
    let whole = access.is_whole(&group.shape) || is_single(access);
    whole || (rank > 0 && along(access, rank - 1) == Along::UnitOrZero)
}

fn requirements(group: &Group, rank: u8) -> Vec<Require> {
    let inner = group.shape.len().saturating_sub(1);
    let mut requires = vec![Require::RankAtMost(rank), Require::InnerMultiple { of: LANES }];
    for (i, access) in group.accesses.iter().enumerate() {
        let (index, axis) = (i as u16, inner as u8);
        if access.is_whole(&group.shape) || is_single(access) {
            continue;
        }
        requires.extend(vector_load(index, access, inner, axis));
    }
    requires
}
