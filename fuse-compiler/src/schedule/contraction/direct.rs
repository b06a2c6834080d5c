//! Tiles without workgroup memory: which groups have them, and up to which depth.

use fuse_artifact::Require;

use super::{Facts, LANES, Tile, Weights};

/// Eight by eight sums per invocation: software adapters, which they are for, compile more very slowly.
const ALIGNED: Tile = Tile { staged: false, ..Tile::new(32, 64, LANES, [8, 8], LANES).in_whole_steps() };

/// As [`ALIGNED`], for any size and stride.
const ANY: Tile = Tile { staged: false, ..Tile::new(32, 64, 1, [8, 8], 1) };

/// The greatest depth, which invocations walk alone. Mesa's lavapipe silently ends the loops of an invocation after 65535
/// rounds, and where depths are longer than this, there is something to share.
const LONGEST: u32 = 1 << 15;

impl Facts<'_> {
    /// The member with vector loads, without a split twin.
    pub(super) fn direct(&self) -> Option<(Tile, bool)> {
        self.may_be_direct().then_some((ALIGNED, false))
    }

    /// The member for any size and stride, with what it needs.
    pub(super) fn direct_any(&self, products: u32) -> Option<(Tile, [Require; 1])> {
        (self.may_be_direct() && ANY.holds(products)).then(|| (ANY, [self.direct_requirement()]))
    }

    pub(super) const fn direct_requirement(&self) -> Require {
        Require::AtMost { axis: self.depth(), value: LONGEST }
    }

    /// Whether invocations can read what they multiply by themselves: nothing that a workgroup computes together, and no words
    /// of weights, which take longer to decode than to multiply.
    fn may_be_direct(&self) -> bool {
        let mut rhs = self.contraction.rhs.iter();
        self.operand_rows.is_none() && rhs.all(|(body, value)| Weights::new(self.group, (body, *value)).is_none())
    }
}
