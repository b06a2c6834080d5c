//! How the depth of a kernel is split among workgroups.

use fuse_artifact::Schedule;

/// How several workgroups share the depth of a contraction, the keys of an attention, a row of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// Number of parts.
    pub(crate) parts: u64,
    /// Depth of one part, a multiple of the schedule's step.
    pub(crate) depth: u64,
    /// Where depths are shared evenly (stream-K): how many tiles are not shared, and how many are.
    pub(crate) tiles: [u64; 2],
}

impl Split {
    /// Into parts of the same depth of each tile.
    pub(crate) const fn even(parts: u64, depth: u64) -> Self {
        Self { parts, depth, tiles: [0; 2] }
    }

    /// The workgroups that share the depths of tiles of so much, where depths are shared evenly.
    pub(crate) fn shares(&self, depth: u64) -> u64 {
        self.tiles[1].saturating_mul(depth).div_ceil(self.depth.max(1))
    }

    /// Where the last part ends: past the depth, if parts do not divide it. Shares of tiles are counted in steps.
    pub(crate) fn walked(&self, depth: u64, step: u64) -> u64 {
        match self.tiles {
            [0, 0] => self.parts.saturating_mul(self.depth),
            [whole, shared] => {
                whole.saturating_add(shared).saturating_mul(depth.div_ceil(step)).saturating_add(self.depth)
            }
        }
    }
}

/// The most parts of a row or of keys: each workgroup of a later pass reads what all of them found.
const MAX_PARTS: u64 = 256;

/// A depth in about so many parts.
pub(crate) fn parted(schedule: &Schedule, whole: u64, parts: u64) -> Split {
    let step = schedule.extents()[2].max(1);
    let most = match schedule {
        Schedule::Tile(_) | Schedule::Gemv(_) => u64::MAX,
        _ => MAX_PARTS,
    };
    let depth = whole.div_ceil(parts.clamp(2, most)).next_multiple_of(step);
    Split::even(whole.div_ceil(depth), depth)
}
