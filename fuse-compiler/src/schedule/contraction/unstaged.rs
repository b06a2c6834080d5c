//! Tiles without workgroup memory: which groups have them, and up to which depth.

use fuse_artifact::{
    Require,
    schedule::{LANES, Mainloop, Tile},
};

use super::{Aligned, Facts, k_aligned, scalar, tile::holds_beside, weights::Weights};
use crate::schedule::ROUNDS_ALONE;

/// Eight by eight sums per invocation: software adapters, which they are for, compile more very slowly.
const VECTORS: Tile = Tile { mainloop: Mainloop::Unstaged, ..k_aligned(Tile::new(32, 64, LANES, [8, 8])) };

/// As [`VECTORS`], for any size and stride.
const SCALAR: Tile = Tile { mainloop: Mainloop::Unstaged, ..scalar(Tile::new(32, 64, 1, [8, 8])) };

impl Facts<'_> {
    /// The schedules with vector loads: one or none, without a split twin.
    pub(super) fn unstaged(&self) -> &'static [Aligned] {
        if self.may_be_unstaged() { &[Aligned { tile: VECTORS, split: false, grouped: true }] } else { &[] }
    }

    /// The schedule for any size and stride.
    pub(super) fn unstaged_scalar(&self, products: u32) -> Option<Tile> {
        (self.may_be_unstaged() && holds_beside(&SCALAR, products, 0)).then_some(SCALAR)
    }

    /// What all of them need: a depth that an invocation may walk alone, whatever it reads in a round.
    pub(super) const fn unstaged_requirement(&self) -> Require {
        Require::AtMost { axis: self.depth(), value: ROUNDS_ALONE }
    }

    /// Whether invocations can read what they multiply by themselves: nothing that a workgroup computes together, and no words
    /// of weights, which take longer to decode than to multiply.
    fn may_be_unstaged(&self) -> bool {
        let mut rhs = self.contraction.rhs.iter();
        self.row_prologue.is_none() && rhs.all(|(body, value)| Weights::new(self.group, (body, *value)).is_none())
    }
}
