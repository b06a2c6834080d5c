//! Staging: operands on their way from memory through registers into workgroup memory.
//!
//! A slice holds, for some steps along the axis that is summed over, a span along the other axis. While one slice is multiplied,
//! the next is on its way into registers. Operands come by elements or vectors, with their prologue ([`ElementStage`]), or as
//! they are stored, by whole lines ([`LineStage`]).

mod elements;
mod lines;

use fuse_artifact::{Size, schedule::LANES};

use crate::{
    kernel::{Block, Val},
    schedule::contraction::Direction,
};
pub(super) use elements::{ElementStage, Elements};
pub(super) use lines::{Advance, LineStage, Lines, SliceExtents};

/// The layout of slices in workgroup memory, in vectors of four.
#[derive(Clone, Copy)]
pub(super) struct Slice<'k> {
    /// The array that holds them.
    pub(super) array: Val<'k>,
    /// The direction of its vectors.
    pub(super) direction: Direction,
    /// Vectors from one step to the next, or from one place along the span to the next if vectors lie along the steps.
    pub(super) vectors: u32,
    /// True if vectors are moved in their steps, by [`swizzle`]; else the number of vectors keeps banks apart.
    pub(super) swizzled: bool,
}

/// Vectors of four that the place of a vector in its step is moved by, so that writes along the steps hit different
/// banks: with steps in groups of four, 2 for each group.
pub(super) const fn swizzle(step: u32) -> u32 {
    (step / 4 % 4) * 2
}

impl<'k> Slice<'k> {
    /// Slices of steps of `span` elements, with nothing between them.
    pub(super) const fn of_steps(array: Val<'k>, span: u32, swizzled: bool) -> Self {
        Self { array, direction: Direction::Outer, vectors: span / LANES, swizzled }
    }

    /// The number of the vector at a step and a place along the span, one of which is a multiple of four.
    pub(super) fn index(&self, step: Val<'k>, outer: Val<'k>) -> Val<'k> {
        match self.direction {
            Direction::Depth => outer * self.vectors + step / 4,
            Direction::Outer if self.swizzled => step * self.vectors + ((outer / 4) ^ (step / 4 % 4 * 2)),
            Direction::Outer => step * self.vectors + outer / 4,
        }
    }

    /// The number of vectors that the place of a vector of a step is moved by.
    pub(super) const fn turn(&self, step: u32) -> u32 {
        if self.swizzled { swizzle(step) } else { 0 }
    }

    /// Puts elements along a direction in their place: in the vector with the number `index`, and in those of the steps behind it
    /// if the slice's vectors lie across. `outer` is their place along the span.
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

/// Adds statements for the invocations that take part in a load, in a scope of their own.
pub(super) fn scope<'k>(b: &mut Block<'k>, takes_part: Option<Val<'k>>, body: impl FnOnce(&mut Block<'k>)) {
    match takes_part {
        Some(takes_part) => b.when(takes_part, body),
        None => b.scope(body),
    }
}

/// True if a size is known to be a multiple of `of`.
pub(super) fn is_multiple(size: &Size, of: u32) -> bool {
    size.as_constant().is_some_and(|size| size % u64::from(of) == 0)
}

/// True if a size is known not to be 0.
pub(super) fn is_nonzero(size: &Size) -> bool {
    size.as_constant().is_some_and(|size| size > 0)
}
