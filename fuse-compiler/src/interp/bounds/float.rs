//! Ranges of float operations: the extremes over the operands' ranges, widened by the table.

use std::f64::consts::FRAC_PI_2;

use fuse_artifact::DType;

use super::{
    Range,
    range::{round_down, round_up},
    table::{self, Accuracy},
};
use crate::{
    graph::{BinaryOp, UnaryOp},
    interp::Element,
};

pub(super) fn unary(op: UnaryOp, x: Range) -> Range {
    let x = x.read();
    let mut range = Range { nan: x.nan, ..Range::EMPTY };
    if !x.has_numbers() {
        return range;
    }
    if is_undetermined(op, x) {
        return Range::ANY;
    }
    let accuracy = table::unary(op, x.low.abs().max(x.high.abs()));
    let f = |x: f64| f64::unary(op, DType::F32, &x);
    for sample in samples(op, x) {
        range = range.union(accuracy.widen(f(sample), sample));
    }
    if is_exact_on_zero_sign(op) { range.flushed() } else { range.computed() }
}

/// Periodic functions of huge arguments, and `tan` across a pole.
fn is_undetermined(op: UnaryOp, x: Range) -> bool {
    let periodic = matches!(op, UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tan);
    let huge = |x: f64| x.is_finite() && x.abs() > table::PERIODIC_LARGEST;
    let infinite_end = !x.is_point() && holds_infinity(x);
    let pole = || op == UnaryOp::Tan && multiples_of_quarter_turn(x).any(|k| k % 2 != 0);
    periodic && (huge(x.low) || huge(x.high) || infinite_end || pole())
}

/// Operations that only move or flip bits, so that even a zero keeps its sign.
fn is_exact_on_zero_sign(op: UnaryOp) -> bool {
    matches!(op, UnaryOp::Neg | UnaryOp::Abs)
}

/// Where the extremes of `op` over `x` can be: the ends, and what lies between them of the points where `op`
/// turns or leaves its domain.
fn samples(op: UnaryOp, x: Range) -> Vec<f64> {
    let mut samples = vec![x.low, x.high];
    let inside = |point: &f64| x.low <= *point && *point <= x.high && !x.is_point();
    samples.extend(table::turning_points(op).iter().copied().filter(inside));
    if matches!(op, UnaryOp::Sin | UnaryOp::Cos) {
        samples.extend(multiples_of_quarter_turn(x).map(|k| k as f64 * FRAC_PI_2));
    }
    samples
}

/// The `k` for which `k·π/2` lies in `x`; all of one turn if `x` is wider than that.
fn multiples_of_quarter_turn(x: Range) -> impl Iterator<Item = i64> {
    let (first, last) = ((x.low / FRAC_PI_2).ceil() as i64, (x.high / FRAC_PI_2).floor() as i64);
    let none = x.low.is_infinite() || x.high.is_infinite();
    first..=if none { i64::MIN } else { last.min(first.saturating_add(4)) }
}

pub(super) fn binary(op: BinaryOp, x: Range, y: Range) -> Range {
    let (x, y) = (x.read(), y.read());
    let of_nan = if op == BinaryOp::Pow { power_of_nan(x, y) } else { Range { nan: x.nan || y.nan, ..Range::EMPTY } };
    if !x.has_numbers() || !y.has_numbers() {
        return of_nan;
    }
    let range = match op {
        BinaryOp::Add => basic(x, y, |x, y| x + y),
        BinaryOp::Sub => basic(x, y, |x, y| x - y),
        BinaryOp::Mul => product(x, y),
        BinaryOp::Div => quotient(x, y),
        BinaryOp::Rem => remainder(x, y),
        BinaryOp::Pow => power(x, y),
        BinaryOp::Min | BinaryOp::Max => corners(x, y, |x, y| Range::point(f64::binary(op, DType::F32, &x, &y))),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Philox => Range::ANY,
    };
    range.computed().union(of_nan)
}

/// The union of `f` over the ends of both ranges.
fn corners(x: Range, y: Range, f: impl Fn(f64, f64) -> Range) -> Range {
    [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)]
        .into_iter()
        .fold(Range::EMPTY, |range, (x, y)| range.union(f(x, y)))
}

/// An operation that WGSL rounds correctly, in either direction: exact where `f32` can hold the outcome.
fn basic(x: Range, y: Range, f: impl Fn(f64, f64) -> f64) -> Range {
    corners(x, y, |x, y| {
        let exact = f(x, y);
        if exact.is_nan() {
            return Range::point(exact);
        }
        Range::between(round_down(DType::F32, exact), round_up(DType::F32, exact))
    })
}

fn product(x: Range, y: Range) -> Range {
    let mut range = basic(x, y, |x, y| x * y);
    // 0·∞ may hide between the ends.
    range.nan |= (x.contains(0.0) && holds_infinity(y)) || (y.contains(0.0) && holds_infinity(x));
    range
}

fn holds_infinity(x: Range) -> bool {
    x.low == f64::NEG_INFINITY || x.high == f64::INFINITY
}

fn quotient(x: Range, y: Range) -> Range {
    let crosses_zero = y.low < 0.0 && y.high > 0.0;
    let touches_zero = y.contains(0.0) && !(y.is_point() && y.low.to_bits() == y.high.to_bits());
    if crosses_zero || touches_zero {
        let nan = x.contains(0.0) || (holds_infinity(x) && holds_infinity(y));
        return Range { nan, ..Range::ANY };
    }
    let mut range = corners(x, y, |x, y| table::DIV.widen(x / y, x));
    range.nan |= holds_infinity(x) && holds_infinity(y);
    if y.low.abs().max(y.high.abs()) > table::DIV_LARGEST && range.has_numbers() {
        // The divisor's reciprocal is subnormal and may be flushed: then the quotient is 0, or NaN of an infinity.
        range = range.union(Range::point(0.0));
        range.nan |= holds_infinity(x);
    }
    range
}

/// `x - y·trunc(x/y)` with an inexact quotient: one more or one less `y` where `x/y` is close to an integer, and
/// undetermined where the quotient overflows.
fn remainder(x: Range, y: Range) -> Range {
    if x.is_point() && y.is_point() {
        let exact = f64::binary(BinaryOp::Rem, DType::F32, &x.low, &y.low);
        if exact.is_nan() || y.low.is_infinite() {
            return Range::point(exact);
        }
    }
    let quotient = quotient(x, y).computed();
    if quotient.nan || !quotient.low.is_finite() || !quotient.high.is_finite() || holds_infinity(y) {
        return Range::ANY;
    }
    let error = Accuracy { argument: table::REM_ULPS, ..Accuracy::EXACT };
    // The product is about x, and may overflow by its rounding.
    if x.low.abs().max(x.high.abs()) * (1.0 + table::ULP) > f64::from(f32::MAX) {
        return Range::ANY;
    }
    [quotient.low.trunc(), quotient.high.trunc()]
        .into_iter()
        .fold(Range::EMPTY, |range, whole| range.union(corners(x, y, |x, y| error.widen(x - y * whole, x))))
}

/// What `pow` yields where an operand is NaN: 1 if the base is 1 or the exponent 0, else NaN.
fn power_of_nan(x: Range, y: Range) -> Range {
    let one = (x.nan && y.contains(0.0)) || (y.nan && x.contains(1.0));
    let only_one = |range: Range, value: f64| range.is_point() && range.low == value;
    let nan = (x.nan && !only_one(y, 0.0)) || (y.nan && !only_one(x, 1.0));
    Range { nan, ..if one { Range::point(1.0) } else { Range::EMPTY } }
}

/// `exp2(y·log2(x))`: an error of the exponent grows with the exponent.
fn power(x: Range, y: Range) -> Range {
    if x.low < 0.0 && !(x.is_point() && y.is_point()) {
        return Range::ANY;
    }
    let mut range = corners(x, y, |x, y| {
        let exponent = y * x.abs().log2();
        let ulps =
            table::POW_ULPS + table::POW_ULPS_PER_EXPONENT * exponent.abs() + table::POW_ULPS_PER_POWER * y.abs();
        let exact = f64::binary(BinaryOp::Pow, DType::F32, &x, &y);
        let ulps = if ulps.is_finite() { ulps } else { 0.0 };
        Accuracy { result: ulps, ..Accuracy::EXACT }.widen(exact, x)
    });
    // Between the ends the power passes 1 where the base does or the exponent is 0.
    if x.contains(1.0) || y.contains(0.0) {
        range = range.union(Range::point(1.0));
    }
    range
}
