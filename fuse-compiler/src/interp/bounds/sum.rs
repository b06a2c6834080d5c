//! Range of a sum of products, for any order of summation.

use fuse_artifact::DType;

use super::{Bounded, Range, table};
use crate::interp::Element;

/// Bounds `Σ x·y` summed in `f32` in any order, in parts, with or without fused multiply-add.
///
/// With radii `r` of the operands, the error is at most `Σ (|x|·r_y + r_x·|y| + r_x·r_y)` from the operands and `γ_n·Σ
/// (|x| + r_x)(|y| + r_y)` from rounding, where `γ_n = n·u / (1 - n·u)` (Higham, Accuracy and Stability of Numerical
/// Algorithms, §3.1). No rounding occurs if all products are multiples of a power of two so large that every partial
/// sum fits the 24 bits of an `f32`.
pub(super) fn dot(dtype: DType, x: &[Bounded], y: &[Bounded]) -> Bounded {
    let numbers = |side: &[Bounded]| side.iter().map(|b| b.exact).collect::<Vec<f64>>();
    let exact = f64::dot(dtype, &numbers(x), &numbers(y));
    let points = x.iter().chain(y).all(|b| b.range.low == b.range.high || b.exact.is_nan() && !b.range.has_numbers());
    let finite = x.iter().chain(y).all(|b| b.exact.is_finite() && radius(b).is_finite() && !b.range.nan);
    let range = match (dtype.is_float(), finite) {
        (true, true) => finite_sum(exact, x, y),
        // An infinity or NaN determines the sum in any order.
        (true, false) if points => Range::point(exact),
        (false, _) if points => Range::point(exact),
        _ => Range::ANY,
    };
    Bounded { exact, range }
}

pub(super) fn radius(b: &Bounded) -> f64 {
    (b.range.high - b.exact).max(b.exact - b.range.low)
}

/// Largest multiple of a unit up to which `f32` represents every multiple.
pub(super) const EXACT_SUM: f64 = 16_777_216.0;

/// Largest power of two that divides all numbers. Infinite if all are zero, 0 if a number is inexact.
pub(super) fn granule(numbers: &[Bounded]) -> f64 {
    let unit = |b: &Bounded| match b.exact {
        _ if radius(b) > 0.0 => 0.0,
        0.0 => f64::INFINITY,
        x => lowest_bit(x),
    };
    numbers.iter().map(unit).fold(f64::INFINITY, f64::min)
}

/// Value of the lowest set bit of a nonzero number, which is an odd multiple of it.
pub(super) fn lowest_bit(x: f64) -> f64 {
    let (mantissa, exponent) = (x.to_bits() | 1 << 52, (x.to_bits() >> 52 & 0x7ff) as i32 - 1075);
    f64::exp2((mantissa.trailing_zeros() as i32 + exponent).into())
}

fn finite_sum(exact: f64, x: &[Bounded], y: &[Bounded]) -> Range {
    let (mut from_operands, mut magnitude) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        let (a, b, ra, rb) = (x.exact.abs(), y.exact.abs(), radius(x), radius(y));
        from_operands += a * rb + ra * b + ra * rb;
        magnitude += (a + ra) * (b + rb);
    }
    if magnitude > f64::from(f32::MAX) {
        return Range::ANY;
    }
    // Products below the normal range may be flushed.
    let flushed = x.len() as f64 * f64::from(f32::MIN_POSITIVE);
    let rounding = if magnitude <= granule(x) * granule(y) * EXACT_SUM {
        0.0
    } else {
        table::gamma(x.len()) * magnitude + flushed
    };
    let error = from_operands + rounding;
    Range::between(exact - error, exact + error).computed()
}
