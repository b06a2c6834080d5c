//! How far a kernel may be from the interpreter: the stated accuracy, carried through a whole graph.
//!
//! [`table`] states the accuracy of every operation on exact operands. [`Bounded`] carries, beside the exact
//! number, the range that a kernel computing step by step in `f32` may land in: each step takes the extremes
//! of its operands' ranges and widens the outcome by its own entry of the table. A result is right when it
//! lies in its range, so no tolerance is ever chosen for a particular test.
//!
//! Invariant: the exact number lies in the range, unless it left `f32`'s range on the way. A range that is
//! as wide as all numbers means that the kernel's outcome is not determined there (`1/(x - x)`).
//!
//! What no kernel promises, and ranges therefore allow: the rounding direction of a basic operation (WGSL
//! leaves it open), subnormal numbers (may be flushed to zero on their way in or out, or be read as up to the
//! smallest normal number), and the sign of a computed zero.

mod float;
mod integer;
mod range;
mod reduce;
mod sum;
pub mod table;

use fuse_artifact::DType;

use super::{Element, pointwise::inside};
use crate::{
    graph::{CompareOp, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};
pub use range::Range;

/// Which values of a graph are rounded to their dtype because a buffer holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// None, not even results: for what needs more digits than buffers have.
    Nothing,
    /// The results only: the whole graph is one kernel.
    Results,
    /// The results, and the left operands of products: an attention in cooperative matrices rounds its probabilities to the
    /// `f16` that they are.
    LeftOperands,
    /// Possibly every value: several kernels, or one for each operation.
    EveryNode,
}

/// An exact number with the range that a kernel may land in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// What the interpreter says.
    pub exact: f64,
    /// What a kernel may say.
    pub range: Range,
}

impl Bounded {
    /// Whether a kernel that yields `x` here is right.
    pub fn admits(&self, x: f64) -> bool {
        self.range.contains(x)
    }

    /// Whether the range says little: wider than `tolerance` relative to the exact number or to 1.
    pub fn is_loose(&self, tolerance: f64) -> bool {
        let Range { low, high, nan } = self.range;
        if self.exact.is_nan() {
            return low <= high;
        }
        nan || (low != high && high - low > tolerance * self.exact.abs().max(1.0))
    }
}

impl Element for Bounded {
    fn exact(x: f64) -> Self {
        Self { exact: x, range: Range::point(x) }
    }

    fn approximate(x: f64, error: f64) -> Self {
        Self { exact: x, range: Range::point(x - error).union(Range::point(x + error)) }
    }

    fn unary(op: UnaryOp, dtype: DType, x: &Self) -> Self {
        let exact = f64::unary(op, dtype, &x.exact);
        let range = match dtype {
            DType::F32 | DType::F16 => float::unary(op, x.range),
            DType::I32 | DType::U32 | DType::Bool => integer::unary(op, dtype, x.range),
        };
        Self { exact, range }
    }

    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self {
        let exact = f64::binary(op, dtype, &x.exact, &y.exact);
        let range = match dtype {
            DType::F32 | DType::F16 => float::binary(op, x.range, y.range),
            DType::I32 | DType::U32 | DType::Bool => integer::binary(op, dtype, x.range, y.range),
        };
        Self { exact, range }
    }

    fn compare(op: CompareOp, dtype: DType, x: &Self, y: &Self) -> Self {
        let exact = f64::compare(op, dtype, &x.exact, &y.exact);
        let read = |range: Range| if dtype.is_float() { range.read() } else { range };
        Self { exact, range: range::compare(op, read(x.range), read(y.range)) }
    }

    fn select(condition: &Self, x: &Self, y: &Self) -> Self {
        let exact = f64::select(&condition.exact, &x.exact, &y.exact);
        let range = match (condition.range.contains(1.0), condition.range.contains(0.0)) {
            (true, false) => x.range,
            (false, true) => y.range,
            _ => x.range.union(y.range),
        };
        Self { exact, range }
    }

    fn cast(from: DType, to: DType, x: &Self) -> Self {
        let range = if from.is_float() { x.range.read() } else { x.range };
        Self { exact: f64::cast(from, to, &x.exact), range: range::cast(from, to, range) }
    }

    fn dot(dtype: DType, x: &[Self], y: &[Self]) -> Self {
        sum::dot(dtype, x, y)
    }

    fn reduce(op: ReduceOp, dtype: DType, x: &[Self]) -> Self {
        reduce::reduce(op, dtype, x)
    }

    fn take(index: &Self, extent: usize, at: impl Fn(usize) -> Self) -> Self {
        let (first, last) = (inside(index.range.low, extent), inside(index.range.high, extent));
        let range = (first..=last).fold(Range::EMPTY, |range, i| range.union(at(i).range));
        Self { exact: at(inside(index.exact, extent)).exact, range }
    }

    fn square(dtype: DType, x: &Self) -> Self {
        let mut square = Self::binary(BinaryOp::Mul, dtype, x, x);
        if dtype.is_float() {
            // Both factors are one number: their signs agree, and 0 does not meet an infinity.
            square.range = Range { low: square.range.low.max(-0.0), nan: x.range.nan, ..square.range };
        }
        square
    }

    fn stored(dtype: DType, x: &Self) -> Self {
        Self { exact: f64::stored(dtype, &x.exact), range: x.range.stored(dtype) }
    }
}

#[cfg(test)]
mod tests;
