//! Range of a sum of products in any order.

use fuse_artifact::DType;

use super::{Bounded, Range, table};
use crate::interp::Element;

/// Bounds `Σ x·y` summed in `f32` in any order, in parts, with or without fused multiply-add.
///
/// With operand radii `r`, the error is at most `Σ (|x|·r_y + r_x·|y| + r_x·r_y)` plus `γ_n·Σ (|x| + r_x)(|y| + r_y)`
/// of rounding, `γ_n = n·u / (1 - n·u)` (Higham, Accuracy and Stability of Numerical Algorithms, §3.1). Nothing rounds
/// if all products are multiples of a power of two so large that every partial sum fits 24 bits.
pub(super) fn dot(dtype: DType, x: &[Bounded], y: &[Bounded]) -> Bounded {
    let numbers = |side: &[Bounded]| side.iter().map(|b| b.exact).collect::<Vec<f64>>();
    let exact = f64::dot(dtype, &numbers(x), &numbers(y));
    let points = x.iter().chain(y).all(|b| b.range.low == b.range.high || b.exact.is_nan() && !b.range.has_numbers());
    let finite = x.iter().chain(y).all(|b| b.exact.is_finite() && radius(b).is_finite() && !b.range.nan);
    let range = match (dtype.is_float(), finite) {
        (true, true) => finite_sum(exact, x, y),
        // In any order.
        (true, false) if points => Range::point(exact),
        (false, _) if points => Range::point(exact),
        _ => Range::ANY,
    };
    Bounded { exact, range }
}

pub(super) fn radius(b: &Bounded) -> f64 {
    (b.range.high - b.exact).max(b.exact - b.range.low)
}

/// `f32` represents every multiple of a unit up to this one.
pub(super) const EXACT_SUM: f64 = 16_777_216.0;

/// Largest power of two that divides all numbers; infinite if all are zero, 0 if one is inexact.
pub(super) fn granule(numbers: &[Bounded]) -> f64 {
    let unit = |b: &Bounded| match b.exact {
        _ if radius(b) > 0.0 => 0.0,
        0.0 => f64::INFINITY,
        x => lowest_bit(x),
    };
    numbers.iter().map(unit).fold(f64::INFINITY, f64::min)
}

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
    // Flushed products below the normal range.
    let flushed = x.len() as f64 * f64::from(f32::MIN_POSITIVE);
    let rounding = if magnitude <= granule(x) * granule(y) * EXACT_SUM {
        0.0
    } else {
        table::gamma(x.len()) * magnitude + flushed
    };
    let error = from_operands + rounding;
    Range::between(exact - error, exact + error).computed()
}
