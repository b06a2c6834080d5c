//! Tiles without workgroup memory, with their legality and maximum depth.

use fuse_artifact::{
    Require,
    schedule::{LANES, Mainloop, Tile},
};

use super::{Aligned, Facts, k_aligned, scalar, tile::holds_beside, weights::Weights};
use crate::schedule::ROUNDS_ALONE;

/// 8×8 sums per invocation: software adapters compile more very slowly.
const VECTORS: Tile = Tile { mainloop: Mainloop::Unstaged, ..k_aligned(Tile::new(32, 64, LANES, [8, 8])) };

const SCALAR: Tile = Tile { mainloop: Mainloop::Unstaged, ..scalar(Tile::new(32, 64, 1, [8, 8])) };

impl Facts<'_> {
    pub(super) fn unstaged(&self) -> &'static [Aligned] {
        if self.may_be_unstaged() { &[Aligned { tile: VECTORS, split: false, grouped: true }] } else { &[] }
    }

    pub(super) fn unstaged_scalar(&self, products: u32) -> Option<Tile> {
        (self.may_be_unstaged() && holds_beside(&SCALAR, products, 0)).then_some(SCALAR)
    }

    /// Limits the depth that an invocation walks alone.
    pub(super) const fn unstaged_requirement(&self) -> Require {
        Require::AtMost { axis: self.depth(), value: ROUNDS_ALONE }
    }

    /// True without row prologue and packed weights, which take longer to decode than to multiply.
    fn may_be_unstaged(&self) -> bool {
        let mut rhs = self.contraction.rhs.iter();
        self.row_prologue.is_none() && rhs.all(|(body, value)| Weights::new(self.group, (body, *value)).is_none())
    }
}
