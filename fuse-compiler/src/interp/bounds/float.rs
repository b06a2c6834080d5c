//! Ranges of float operations: extremes over operand ranges, widened by the table.

use std::f64::consts::FRAC_PI_2;

use fuse_artifact::DType;

use super::{
    Range,
    range::{everything, round_down, round_up},
    table,
};
use crate::{
    interp::Element,
    operations::{Accuracy, BinaryOp, Spread, Turns, ULP, UnaryOp},
};

pub(super) fn unary(op: UnaryOp, x: Range) -> Range {
    let x = x.read();
    match op.result(DType::F32) {
        DType::Bool => return answers(op, x),
        DType::U32 => return bits(x),
        _ => {}
    }
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
    if op.row().keeps_zero_sign { range.flushed() } else { range.computed() }
}

fn is_undetermined(op: UnaryOp, x: Range) -> bool {
    let turns = op.row().turns;
    let huge = |x: f64| x.is_finite() && x.abs() > table::PERIODIC_LARGEST;
    let infinite_end = !x.is_point() && holds_infinity(x);
    let pole = || matches!(turns, Turns::Poles) && multiples_of_quarter_turn(x).any(|k| k % 2 != 0);
    matches!(turns, Turns::EveryQuarter | Turns::Poles) && (huge(x.low) || huge(x.high) || infinite_end || pole())
}

/// Candidates for extremes of `op`: ends, and points where it turns or leaves its domain.
fn samples(op: UnaryOp, x: Range) -> Vec<f64> {
    let mut samples = vec![x.low, x.high];
    let inside = |point: &f64| x.low <= *point && *point <= x.high && !x.is_point();
    match op.row().turns {
        Turns::At(points) => samples.extend(points.iter().copied().filter(inside)),
        Turns::EveryQuarter => samples.extend(multiples_of_quarter_turn(x).map(|k| k as f64 * FRAC_PI_2)),
        Turns::AtIntegers => {
            let jumps = [x.low.ceil(), x.high.floor(), -1.0, 0.0, 1.0];
            let sides = jumps.iter().flat_map(|jump| [*jump, jump.next_down(), jump.next_up()]);
            samples.extend(sides.filter(inside));
        }
        Turns::Poles => {}
    }
    samples
}

fn answers(op: UnaryOp, x: Range) -> Range {
    let between = x.has_numbers().then(|| [x.low, x.high, 0.0f64.clamp(x.low, x.high)]);
    let nan = x.nan.then_some(f64::NAN);
    let samples = between.into_iter().flatten().chain(nan);
    samples.fold(Range::EMPTY, |range, x| range.union(Range::point(f64::unary(op, DType::F32, &x))))
}

/// Bits, ordered like the numbers of one sign.
fn bits(x: Range) -> Range {
    let of = |x: f64| f64::unary(UnaryOp::ToBits, DType::F32, &x);
    let (low, high) = (round_down(DType::F32, x.low), round_up(DType::F32, x.high));
    if x.nan || !x.has_numbers() || low.is_sign_negative() != high.is_sign_negative() {
        return everything(DType::U32);
    }
    Range::between(of(low).min(of(high)), of(low).max(of(high)))
}

/// Integers `k` with `k·π/2` in `x`, with at least one turn if `x` has one.
fn multiples_of_quarter_turn(x: Range) -> impl Iterator<Item = i64> {
    let (first, last) = ((x.low / FRAC_PI_2).ceil() as i64, (x.high / FRAC_PI_2).floor() as i64);
    let none = x.low.is_infinite() || x.high.is_infinite();
    first..=if none { i64::MIN } else { last.min(first.saturating_add(4)) }
}

pub(super) fn binary(op: BinaryOp, x: Range, y: Range) -> Range {
    let (x, y) = (x.read(), y.read());
    let spread = op.row().spread;
    let of_nan = match spread {
        Spread::Power => power_of_nan(x, y),
        Spread::Magnitudes(_) => length_of_nan(x, y),
        _ => Range { nan: x.nan || y.nan, ..Range::EMPTY },
    };
    if !x.has_numbers() || !y.has_numbers() {
        return of_nan;
    }
    let value = |x: f64, y: f64| f64::binary(op, DType::F32, &x, &y);
    let range = match spread {
        Spread::Rounded => basic(x, y, value),
        Spread::Product => product(x, y),
        Spread::Quotient => quotient(x, y),
        Spread::Remainder => remainder(x, y),
        Spread::Power => power(x, y),
        Spread::Ends => corners(x, y, |x, y| Range::point(value(x, y))),
        Spread::Magnitudes(accuracy) => {
            corners(magnitudes(x), magnitudes(y), |x, y| accuracy.widen(value(x, y), x.abs().max(y.abs())))
        }
        Spread::Angle(accuracy) => angle(x, y, |x, y| accuracy.widen(value(x, y), 0.0)),
        Spread::Unknown => Range::ANY,
    };
    range.computed().union(of_nan)
}

fn magnitudes(x: Range) -> Range {
    let (low, high) = (x.low.abs(), x.high.abs());
    Range::between(if x.contains(0.0) { 0.0 } else { low.min(high) }, low.max(high))
}

/// `hypot` of a NaN: infinity if the other is infinite, else NaN.
fn length_of_nan(x: Range, y: Range) -> Range {
    let infinite = (x.nan && holds_infinity(y)) || (y.nan && holds_infinity(x));
    Range { nan: x.nan || y.nan, ..if infinite { Range::point(f64::INFINITY) } else { Range::EMPTY } }
}

/// Angle from the corners; all angles if the point may be the origin or on the negative axis, where the angle jumps
/// from π to -π.
fn angle(x: Range, y: Range, f: impl Fn(f64, f64) -> Range) -> Range {
    let exact = x.low.to_bits() == x.high.to_bits() && y.low.to_bits() == y.high.to_bits();
    if !exact && x.contains(0.0) && y.low <= 0.0 {
        return f(0.0, -1.0).union(f(-0.0, -1.0));
    }
    corners(x, y, f)
}

fn corners(x: Range, y: Range, f: impl Fn(f64, f64) -> Range) -> Range {
    [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)]
        .into_iter()
        .fold(Range::EMPTY, |range, (x, y)| range.union(f(x, y)))
}

/// WGSL rounds in either direction. Exact if `f32` can represent the outcome.
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
    for (zero, other) in [(x, y), (y, x)] {
        if zero.contains(0.0) && holds_infinity(other) {
            // 0·∞ may hide between the ends, and 0 between two infinities.
            range.nan = true;
            if other.low != other.high {
                range = range.union(Range::point(-0.0)).union(Range::point(0.0));
            }
        }
    }
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
        // A flushed subnormal reciprocal gives 0, or NaN of an infinity.
        range = range.union(Range::point(0.0));
        range.nan |= holds_infinity(x);
    }
    range
}

/// `x - y·trunc(x/y)`: off by one `y` where `x/y` is close to an integer, undetermined where it overflows.
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
    // The product is about x and may overflow.
    if x.low.abs().max(x.high.abs()) * (1.0 + ULP) > f64::from(f32::MAX) {
        return Range::ANY;
    }
    [quotient.low.trunc(), quotient.high.trunc()]
        .into_iter()
        .fold(Range::EMPTY, |range, whole| range.union(corners(x, y, |x, y| error.widen(x - y * whole, x))))
}

/// `pow` of a NaN: 1 if the base is 1 or the exponent 0, else NaN.
fn power_of_nan(x: Range, y: Range) -> Range {
    let one = (x.nan && y.contains(0.0)) || (y.nan && x.contains(1.0));
    let only_one = |range: Range, value: f64| range.is_point() && range.low == value;
    let nan = (x.nan && !only_one(y, 0.0)) || (y.nan && !only_one(x, 1.0));
    Range { nan, ..if one { Range::point(1.0) } else { Range::EMPTY } }
}

/// `exp2(y·log2(x))`: the error grows with the exponent.
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
    // The power passes 1 between the ends.
    if x.contains(1.0) || y.contains(0.0) {
        range = range.union(Range::point(1.0));
    }
    range
}
