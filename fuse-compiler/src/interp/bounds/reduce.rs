//! Ranges of reductions, for any order of elements.

use fuse_artifact::DType;

use super::{
    Bounded, Range,
    range::everything,
    sum::{EXACT_SUM, granule, lowest_bit, radius},
    table,
};
use crate::{
    graph::ReduceOp,
    interp::{Element, reduce::neutral},
    operations::ULP,
};

const LARGEST: f64 = f32::MAX as f64;
const NORMAL: f64 = f32::MIN_POSITIVE as f64;

pub(super) fn reduce(op: ReduceOp, dtype: DType, x: &[Bounded]) -> Bounded {
    let numbers: Vec<f64> = x.iter().map(|b| b.exact).collect();
    let exact = f64::reduce(op, dtype, &numbers);
    if x.is_empty() {
        return Bounded::exact(exact);
    }
    let float = dtype.is_float();
    let read = |b: &Bounded| Bounded { exact: b.exact, range: if float { b.range.read() } else { b.range } };
    let x: Vec<Bounded> = x.iter().map(read).collect();
    let ranges: Vec<Range> = x.iter().map(|b| b.range).collect();
    let range = match op {
        ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min if ranges.iter().any(is_nan) => Range::NAN,
        ReduceOp::Sum if float => sum(exact, &x).computed(),
        ReduceOp::Prod if float => product(&ranges).computed(),
        ReduceOp::Sum | ReduceOp::Prod if ranges.iter().all(Range::is_point) => Range::point(exact),
        ReduceOp::Sum => fitting(dtype, integer_sum(&ranges)),
        ReduceOp::Prod => fitting(dtype, interval_product(&ranges)),
        ReduceOp::Max | ReduceOp::Min if float => extreme(op, dtype, &ranges).computed(),
        ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => extreme(op, dtype, &ranges),
        ReduceOp::ArgMax => winners(&ranges),
        ReduceOp::ArgMin => winners(&ranges.iter().map(Range::negated).collect::<Vec<_>>()),
    };
    Bounded { exact, range }
}

fn is_nan(x: &Range) -> bool {
    x.nan && !x.has_numbers()
}

/// All values of the dtype if numbers may wrap.
fn fitting(dtype: DType, x: Range) -> Range {
    let all = everything(dtype);
    if all.low <= x.low && x.high <= all.high { x } else { all }
}

/// As accurate as [`table::sum`]; exact if every partial sum fits 24 bits.
fn sum(exact: f64, x: &[Bounded]) -> Range {
    if x.iter().any(|b| b.range.nan) {
        return Range::ANY;
    }
    let infinite = |b: &&Bounded| b.range.low == b.range.high && b.range.low.is_infinite();
    let finite: Vec<Bounded> = x.iter().filter(|b| !infinite(b)).copied().collect();
    let magnitude: f64 = finite.iter().map(|b| b.exact.abs() + radius(b)).sum();
    if magnitude.is_nan() || magnitude > LARGEST {
        return Range::ANY;
    }
    if let Some(first) = x.iter().find(infinite) {
        let agree = x.iter().filter(infinite).all(|b| b.range.low == first.range.low);
        return if agree { first.range } else { Range::NAN };
    }
    let rounding = if magnitude <= granule(x) * EXACT_SUM {
        0.0
    } else {
        table::sum(x.len()) * magnitude + x.len() as f64 * NORMAL
    };
    let sum = |end: fn(&Bounded) -> f64| x.iter().map(end).sum::<f64>();
    let (low, high) = (sum(|b| b.range.low).min(exact) - rounding, sum(|b| b.range.high).max(exact) + rounding);
    let low = if x.iter().all(|b| b.range.low >= 0.0) { low.max(0.0) } else { low };
    let high = if x.iter().all(|b| b.range.high <= 0.0) { high.min(0.0) } else { high };
    Range::between(low, high)
}

/// Product in `f32` with one rounding per factor; exact if the product of odd parts fits 24 bits.
fn product(x: &[Range]) -> Range {
    if x.iter().any(|x| x.nan) {
        return Range::ANY;
    }
    let largest = |x: &Range| x.low.abs().max(x.high.abs());
    let least = |x: &Range| if x.contains(0.0) { 0.0 } else { x.low.abs().min(x.high.abs()) };
    // Magnitudes of nonzero partial products of finite factors.
    let top: f64 = x.iter().map(largest).filter(|x| x.is_finite()).map(|x| x.max(1.0)).product();
    let bottom: f64 = x.iter().map(least).filter(|x| x.is_finite() && *x != 0.0).map(|x| x.min(1.0)).product();
    let (zero, infinity) = (x.iter().any(|x| x.contains(0.0)), x.iter().any(|x| largest(x).is_infinite()));
    let overflows = top > LARGEST || infinity;
    let underflows = bottom < NORMAL || zero;
    if overflows && underflows {
        let certain = |value: f64| x.iter().any(|x| x.is_point() && x.low.abs() == value);
        let both = certain(0.0) && certain(f64::INFINITY);
        return if both { Range::NAN } else { Range::ANY };
    }
    let product = interval_product(x);
    if overflows {
        // An overflowed product stays infinite, with the product's sign.
        let low = if product.low < 0.0 { f64::NEG_INFINITY } else { product.low.min(LARGEST) };
        let high = if product.high > 0.0 { f64::INFINITY } else { product.high.max(-LARGEST) };
        return if x.iter().any(|x| x.is_point() && x.low.is_infinite()) { product } else { Range::between(low, high) };
    }
    if x.iter().any(|x| x.is_point() && x.low == 0.0) {
        return Range::point(0.0);
    }
    let odd = |x: &Range| x.low.abs() / lowest_bit(x.low);
    let exact =
        !zero && bottom >= NORMAL && x.iter().all(Range::is_point) && x.iter().map(odd).product::<f64>() <= EXACT_SUM;
    let relative = if exact { 0.0 } else { table::PROD_ULPS_PER_FACTOR * ULP * x.len() as f64 };
    // Later factors magnify a flushed partial product.
    let flushed = if bottom < NORMAL { NORMAL * top * x.len() as f64 } else { 0.0 };
    Range::between(
        product.low - product.low.abs() * relative - flushed,
        product.high + product.high.abs() * relative + flushed,
    )
}

fn interval_product(x: &[Range]) -> Range {
    x.iter().fold(Range::point(1.0), |p, x| {
        let corners = [p.low * x.low, p.low * x.high, p.high * x.low, p.high * x.high];
        corners.into_iter().fold(Range::EMPTY, |range, corner| range.union(Range::point(corner)))
    })
}

fn integer_sum(x: &[Range]) -> Range {
    Range::between(x.iter().map(|x| x.low).sum(), x.iter().map(|x| x.high).sum())
}

fn extreme(op: ReduceOp, dtype: DType, x: &[Range]) -> Range {
    let choose = if matches!(op, ReduceOp::Max | ReduceOp::Any) { f64::max } else { f64::min };
    let all = |end: fn(&Range) -> f64| x.iter().map(end).fold(neutral(op, dtype), choose);
    Range { low: all(|x| x.low), high: all(|x| x.high), nan: x.iter().any(|x| x.nan) }
}

/// Possible positions of the first NaN, or else of the first maximum.
fn winners(x: &[Range]) -> Range {
    let certain_nan = x.iter().position(is_nan);
    let mut winners = Range::EMPTY;
    for (i, _) in x.iter().enumerate().take(certain_nan.map_or(x.len(), |i| i + 1)).filter(|(_, x)| x.nan) {
        winners = winners.union(Range::point(i as f64));
    }
    if certain_nan.is_some() {
        return winners;
    }
    let floor = x.iter().map(|x| x.low).fold(f64::NEG_INFINITY, f64::max);
    let mut before = f64::NEG_INFINITY;
    for (i, x) in x.iter().enumerate() {
        if x.high >= floor && (i == 0 || x.high > before) {
            winners = winners.union(Range::point(i as f64));
        }
        before = before.max(x.low);
    }
    winners
}
