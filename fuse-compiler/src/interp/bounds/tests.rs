//! Tests of ranges of single operations.

mod reduce;

use fuse_artifact::DType;

use super::*;
use crate::operations::ULP;

fn bounded(exact: f64, low: f64, high: f64) -> Bounded {
    Bounded { exact, range: Range::between(low, high) }
}

fn unary(op: UnaryOp, x: f64) -> Bounded {
    Bounded::unary(op, DType::F32, &Bounded::exact(x))
}

fn binary(op: BinaryOp, x: f64, y: f64) -> Bounded {
    Bounded::binary(op, DType::F32, &Bounded::exact(x), &Bounded::exact(y))
}

#[test]
fn sums_that_f32_can_hold_are_exact() {
    assert!(binary(BinaryOp::Add, 1.5, 2.25).range.is_point());
    let third = binary(BinaryOp::Add, 1.0, f64::from(f32::EPSILON) / 4.0);
    assert!(third.admits(1.0) && third.admits(f64::from(1.0f32.next_up())) && !third.admits(1.1));
}

#[test]
fn nothing_times_anything_may_be_nothing() {
    let zero = bounded(0.0, 0.0, 0.0);
    let times = |low: f64, high: f64| Bounded::binary(BinaryOp::Mul, DType::F32, &zero, &bounded(1.0, low, high));
    let any = times(f64::NEG_INFINITY, f64::INFINITY);
    assert!(any.admits(0.0) && any.admits(-0.0) && any.admits(f64::NAN) && !any.admits(1.0), "{any:?}");
    let infinite = times(f64::INFINITY, f64::INFINITY);
    assert!(infinite.admits(f64::NAN) && !infinite.admits(0.0), "{infinite:?}");
}

#[test]
fn the_exact_number_lies_in_its_range() {
    let xs = [-90.0, -20.0, -3.0, -1.2, -0.7, -1e-4, 0.0, 1e-4, 0.3, 1.0, 2.5, 20.0, 88.0, 1e4];
    for &op in UnaryOp::ALL.iter().filter(|op| op.takes(DType::F32)) {
        for x in xs {
            let b = unary(op, x);
            assert!(b.admits(b.exact) || b.exact.abs() > f32::MAX.into(), "{op:?}({x}) = {b:?}");
        }
    }
}

#[test]
fn overflow_may_become_infinite_but_not_small() {
    let b = unary(UnaryOp::Exp, 100.0);
    assert!(b.admits(f64::INFINITY) && b.admits(f32::MAX.into()) && !b.admits(1e30));
    let b = Bounded::unary(UnaryOp::Tanh, DType::F32, &b);
    assert!(b.admits(1.0) && !b.admits(0.9) && !b.admits(f64::NAN));
}

#[test]
fn nan_and_infinity_stay_exact() {
    assert_eq!(binary(BinaryOp::Sub, f64::INFINITY, f64::INFINITY).range, Range::point(f64::NAN));
    assert_eq!(binary(BinaryOp::Add, f64::INFINITY, 1.0).range, Range::point(f64::INFINITY));
    assert_eq!(unary(UnaryOp::Sqrt, -1.0).range, Range::point(f64::NAN));
    assert_eq!(unary(UnaryOp::Recip, 0.0).range, Range::point(f64::INFINITY));
    assert_eq!(unary(UnaryOp::Recip, -0.0).range, Range::point(f64::NEG_INFINITY));
}

#[test]
fn a_computed_zero_has_no_sign() {
    let zero = binary(BinaryOp::Sub, 1.0, 1.0);
    let b = Bounded::unary(UnaryOp::Recip, DType::F32, &zero);
    assert!(b.admits(f64::INFINITY) && b.admits(f64::NEG_INFINITY));
}

#[test]
fn undetermined_comparisons_admit_both_branches() {
    let (near, one) = (bounded(1.0, 0.9, 1.1), Bounded::exact(1.0));
    let less = Bounded::compare(CompareOp::Lt, DType::F32, &near, &one);
    assert!(less.admits(0.0) && less.admits(1.0));
    let chosen = Bounded::select(&less, &Bounded::exact(5.0), &Bounded::exact(7.0));
    assert_eq!(chosen.range, Range::between(5.0, 7.0));
    let far = Bounded::compare(CompareOp::Lt, DType::F32, &near, &Bounded::exact(2.0));
    assert_eq!(far.range, Range::point(1.0));
    let nan = Bounded::compare(CompareOp::Ne, DType::F32, &Bounded::exact(f64::NAN), &one);
    assert_eq!(nan.range, Range::point(1.0));
}

#[test]
fn subnormal_numbers_may_be_flushed_in_and_out() {
    let b = binary(BinaryOp::Mul, 1e-30, 1e-10);
    assert!(b.admits(0.0) && !b.admits(1e-37));
    let b = Bounded::compare(CompareOp::Gt, DType::F32, &Bounded::exact(1e-40), &Bounded::exact(0.0));
    assert!(b.admits(0.0) && b.admits(1.0));
}

#[test]
fn half_precision_is_rounded_once_per_store() {
    let third = bounded(1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0);
    let stored = Bounded::stored(DType::F16, &third);
    assert_eq!(stored.range, Range::between(0.333251953125, 0.33349609375));
    assert!(Bounded::stored(DType::F16, &Bounded::exact(0.5)).range.is_point());
    let large = Bounded::stored(DType::F16, &Bounded::exact(1e5));
    assert!(large.admits(f64::INFINITY) && large.admits(65504.0) && !large.admits(65000.0));
}

#[test]
fn ranges_turn_with_the_function() {
    let gelu = Bounded::unary(UnaryOp::Gelu, DType::F32, &bounded(-0.7, -1.0, -0.5));
    assert!(gelu.admits(-0.16997));
    let cos = Bounded::unary(UnaryOp::Cos, DType::F32, &bounded(0.1, -0.2, 0.3));
    assert!(cos.admits(1.0) && !cos.admits(0.9));
    let sin = Bounded::unary(UnaryOp::Sin, DType::F32, &bounded(0.0, -50.0, 50.0));
    assert!(sin.admits(-1.0) && sin.admits(1.0) && !sin.admits(1.001));
    let tan = Bounded::unary(UnaryOp::Tan, DType::F32, &bounded(1.5, 1.5, 1.6));
    assert_eq!(tan.range, Range::ANY);
}

#[test]
fn remainders_near_a_multiple_admit_the_divisor() {
    let b = binary(BinaryOp::Rem, 6.0, 3.0);
    assert!(b.admits(0.0) && b.admits(3.0) && !b.admits(3.5));
    let b = binary(BinaryOp::Rem, 7.0, 3.0);
    assert!(b.admits(1.0) && !b.admits(1.001) && !b.admits(-2.0));
}

#[test]
fn documented_errors_are_those_of_the_table() {
    let log = unary(UnaryOp::Log, 1e-40);
    assert!(log.admits(f64::NEG_INFINITY) && log.admits(-92.1) && log.admits(-87.34) && !log.admits(-87.3));
    let gelu = unary(UnaryOp::Gelu, -7.3);
    assert!(gelu.admits(0.0) && gelu.admits(-7.3 * 2.9 * ULP) && !gelu.admits(-7.3 * 3.1 * ULP));
    let rem = binary(BinaryOp::Rem, f64::from(3e38f32), 2.5);
    assert!(rem.admits(3e38 * 3.0 * ULP) && !rem.admits(3e38 * 5.0 * ULP));
    let pow = binary(BinaryOp::Pow, f64::from(-3e38f32), -1.0);
    assert!(pow.admits(-0.0) && pow.admits(-1.0 / 3e38) && !pow.admits(-1.2e-38));
}

fn exact_row(numbers: impl Iterator<Item = f64>) -> Vec<Bounded> {
    numbers.map(Bounded::exact).collect()
}

#[test]
fn a_sum_of_products_is_bounded_by_its_magnitude() {
    let x = exact_row((0..100).map(|i| f64::from(i) / 3.0 - 20.0));
    let y = exact_row((0..100).map(|_| 1.0));
    let b = Bounded::dot(DType::F32, &x, &y);
    assert!((b.exact + 350.0).abs() < 1e-9);
    assert!(b.admits(b.exact) && b.admits(b.exact - 0.002) && !b.admits(b.exact - 0.1));
    let mut x = x;
    x[3] = Bounded::exact(f64::INFINITY);
    assert_eq!(Bounded::dot(DType::F32, &x, &y).range, Range::point(f64::INFINITY));
}

#[test]
fn a_sum_of_small_multiples_is_exact_in_any_order() {
    let x = exact_row((0..100).map(|i| f64::from(i) / 64.0 - 0.5));
    let y = exact_row((0..100).map(|i| f64::from(i % 7) / 16.0));
    let b = Bounded::dot(DType::F32, &x, &y);
    assert!(b.range.is_point() && b.admits(b.exact));
    let large = exact_row([16_777_216.0, 1.0].into_iter());
    let ones = exact_row([1.0, 1.0].into_iter());
    assert!(!Bounded::dot(DType::F32, &large, &ones).range.is_point());
    assert_eq!(Bounded::dot(DType::I32, &large, &ones).range, Range::point(16_777_217.0));
    let zeros = exact_row([0.0, 0.0].into_iter());
    assert!(Bounded::dot(DType::F32, &large, &zeros).range.is_point());
}

#[test]
fn inexact_integers_widen_and_wrapping_ones_are_undetermined() {
    let near = Bounded::cast(DType::F32, DType::I32, &bounded(3.0, 2.9, 3.1));
    assert_eq!(near.range, Range::between(2.0, 3.0));
    let sum = Bounded::binary(BinaryOp::Add, DType::I32, &near, &Bounded::exact(4.0));
    assert_eq!(sum.range, Range::between(6.0, 7.0));
    let max = Bounded::exact(i32::MAX.into());
    let wrapped = Bounded::binary(BinaryOp::Add, DType::I32, &near, &max);
    assert!(wrapped.admits(i32::MIN.into()));
}

#[test]
fn periodic_functions_of_infinity_are_nan_and_of_huge_numbers_undetermined() {
    for op in [UnaryOp::Sin, UnaryOp::Cos, UnaryOp::Tan] {
        assert_eq!(unary(op, f64::INFINITY).range, Range::point(f64::NAN), "{op:?}");
        assert_eq!(unary(op, 1e9).range, Range::ANY, "{op:?}");
    }
}
