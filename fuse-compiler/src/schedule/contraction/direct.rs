//! Tiles without workgroup memory: which groups have them, and up to which depth.

use fuse_artifact::Require;

use super::{Facts, LANES, Tile, Weights};
use crate::schedule::ROUNDS_ALONE;

/// Eight by eight sums per invocation: software adapters, which they are for, compile more very slowly.
const ALIGNED: Tile = Tile { staged: false, ..Tile::new(32, 64, LANES, [8, 8], LANES).in_whole_steps() };

/// As [`ALIGNED`], for any size and stride.
const ANY: Tile = Tile { staged: false, ..Tile::new(32, 64, 1, [8, 8], 1) };

impl Facts<'_> {
    /// The members with vector loads: one or none, without a split twin.
    pub(super) fn direct(&self) -> &'static [(Tile, bool)] {
        if self.may_be_direct() { &[(ALIGNED, false)] } else { &[] }
    }

    /// The member for any size and stride.
    pub(super) fn direct_any(&self, products: u32) -> Option<Tile> {
        (self.may_be_direct() && ANY.holds(products)).then_some(ANY)
    }

    /// What all of them need: a depth that an invocation may walk alone, whatever it reads in a round.
    pub(super) const fn direct_requirement(&self) -> Require {
        Require::AtMost { axis: self.depth(), value: ROUNDS_ALONE }
    }

    /// Whether invocations can read what they multiply by themselves: nothing that a workgroup computes together, and no words
    /// of weights, which take longer to decode than to multiply.
    fn may_be_direct(&self) -> bool {
        let mut rhs = self.contraction.rhs.iter();
        self.operand_rows.is_none() && rhs.all(|(body, value)| Weights::new(self.group, (body, *value)).is_none())
    }
}
