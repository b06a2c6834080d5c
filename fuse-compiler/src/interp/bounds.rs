//! Error bounds: propagates the stated accuracy of operations through a whole graph.
//!
//! [`table`] states accuracies on exact operands. [`Bounded`] holds the exact number, and the range of a kernel that
//! computes each step in `f32`. A step takes extremes over its operands' ranges, widened by its entry. A result is
//! right if it lies in its range, so no test chooses a tolerance.
//!
//! # Invariant
//! The exact number lies in the range, unless it left `f32`'s range on the way. A range of all numbers means an
//! undetermined outcome (`1/(x - x)`).
//!
//! Ranges allow all that no kernel guarantees:
//!
//! - Rounding direction of basic operations (open in WGSL).
//! - Subnormal numbers: flushed to zero on input or output, or read as up to the smallest normal number.
//! - Sign of a computed zero.

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

/// Values that stores round to their dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Not even results, for more digits than buffers hold.
    Nothing,
    /// Results: the graph is one kernel.
    Results,
    /// Also left operands of products: an attention in cooperative matrices rounds probabilities to `f16`.
    LeftOperands,
    /// Possibly all: several kernels.
    EveryNode,
}

/// Exact number, with the range of a kernel's results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// Exact number.
    pub exact: f64,
    /// Range of a kernel's results.
    pub range: Range,
}

impl Bounded {
    /// True if a kernel may yield `x`.
    pub fn admits(&self, x: f64) -> bool {
        self.range.contains(x)
    }

    /// True for a range wider than `tolerance`, relative to the exact number or 1.
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
            // One number: signs agree, and 0 does not meet an infinity.
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
