//! [`Split`]: division of a contraction's depth, an attention's keys or a reduction's row among workgroups.

use fuse_artifact::Schedule;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) parts: u64,
    /// Depth of one part, a multiple of the schedule's step.
    pub(crate) depth: u64,
    /// Stream-K: numbers of whole and of shared tiles.
    pub(crate) tiles: [u64; 2],
}

impl Split {
    pub(crate) const fn even(parts: u64, depth: u64) -> Self {
        Self { parts, depth, tiles: [0; 2] }
    }

    /// Stream-K workgroups that share the depths of tiles.
    pub(crate) fn shares(&self, depth: u64) -> u64 {
        self.tiles[1].saturating_mul(depth).div_ceil(self.depth.max(1))
    }

    /// End of the last part, which may be past the depth. Shares of tiles are counted in steps.
    pub(crate) fn walked(&self, depth: u64, step: u64) -> u64 {
        match self.tiles {
            [0, 0] => self.parts.saturating_mul(self.depth),
            [whole, shared] => {
                whole.saturating_add(shared).saturating_mul(depth.div_ceil(step)).saturating_add(self.depth)
            }
        }
    }
}

/// Limit of parts: each workgroup of a later pass reads all partial results.
const MAX_PARTS: u64 = 256;

pub(crate) fn parted(schedule: &Schedule, whole: u64, parts: u64) -> Split {
    let step = schedule.extents()[2].max(1);
    let most = match schedule {
        Schedule::Tile(_) | Schedule::Gemv(_) => u64::MAX,
        _ => MAX_PARTS,
    };
    let depth = whole.div_ceil(parts.clamp(2, most)).next_multiple_of(step);
    Split::even(whole.div_ceil(depth), depth)
}
