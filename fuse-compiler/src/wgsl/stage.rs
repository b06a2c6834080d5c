//! Staging: operands on their way from memory through registers into workgroup memory.
//!
//! A slice holds, for some steps along the summed axis, a span along the other axis. While one slice is multiplied, the
//! next is loaded into registers. Operands come by elements or vectors with their prologue ([`ElementStage`]), or by
//! whole stored lines ([`LineStage`]).

mod elements;
mod lines;

use fuse_artifact::{Size, schedule::LANES};

use crate::{
    kernel::{Block, Val},
    schedule::contraction::Direction,
};
pub(super) use elements::{ElementStage, Elements};
pub(super) use lines::{Advance, LineStage, Lines, SliceExtents};

/// Layout of slices in workgroup memory, in vectors of four.
#[derive(Clone, Copy)]
pub(super) struct Slice<'k> {
    pub(super) array: Val<'k>,
    pub(super) direction: Direction,
    /// Vectors from step to step, or along the span if vectors lie along the steps.
    pub(super) vectors: u32,
    /// True if vectors are moved in their steps by [`swizzle`]; else padding keeps banks apart.
    pub(super) swizzled: bool,
}

/// Vectors by which a vector is moved in its step, so that writes along the steps hit different banks: 2 per group of
/// four steps.
pub(super) const fn swizzle(step: u32) -> u32 {
    (step / 4 % 4) * 2
}

impl<'k> Slice<'k> {
    /// Slices of steps of `span` elements, without padding.
    pub(super) const fn of_steps(array: Val<'k>, span: u32, swizzled: bool) -> Self {
        Self { array, direction: Direction::Outer, vectors: span / LANES, swizzled }
    }

    /// The vector at a step and a place along the span, one of which is a multiple of four.
    pub(super) fn index(&self, step: Val<'k>, outer: Val<'k>) -> Val<'k> {
        match self.direction {
            Direction::Depth => outer * self.vectors + step / 4,
            Direction::Outer if self.swizzled => step * self.vectors + ((outer / 4) ^ (step / 4 % 4 * 2)),
            Direction::Outer => step * self.vectors + outer / 4,
        }
    }

    /// Vectors by which a step's vectors are moved.
    pub(super) const fn turn(&self, step: u32) -> u32 {
        if self.swizzled { swizzle(step) } else { 0 }
    }

    /// Stores elements along a direction: in the vector `index`, or across the vectors of following steps. `outer` is
    /// their place along the span.
    pub(super) fn put(&self, b: &mut Block<'k>, direction: Direction, [index, outer, value]: [Val<'k>; 3]) {
        let lanes = value.ty().lanes();
        if lanes > 1 && direction == self.direction {
            b.set(self.array.at(index), value);
            return;
        }
        debug_assert!(self.direction == Direction::Outer, "steps that are kept side by side come side by side");
        for e in 0..lanes {
            b.set(self.array.at(index + e * self.vectors).at(outer % 4), value.lane(e));
        }
    }
}

pub(super) fn scope<'k>(b: &mut Block<'k>, takes_part: Option<Val<'k>>, body: impl FnOnce(&mut Block<'k>)) {
    match takes_part {
        Some(takes_part) => b.when(takes_part, body),
        None => b.scope(body),
    }
}

pub(super) fn is_multiple(size: &Size, of: u32) -> bool {
    size.as_constant().is_some_and(|size| size % u64::from(of) == 0)
}

pub(super) fn is_nonzero(size: &Size) -> bool {
    size.as_constant().is_some_and(|size| size > 0)
}
