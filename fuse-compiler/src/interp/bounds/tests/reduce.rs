//! Compares ranges of reductions with hand-computed values, and with `f32` sums in several orders.

use super::*;

fn reduce(op: ReduceOp, x: &[Bounded]) -> Bounded {
    Bounded::reduce(op, DType::F32, x)
}

fn integers(op: ReduceOp, x: &[Bounded]) -> Range {
    Bounded::reduce(op, DType::I32, x).range
}

/// From -1 to 1, representable in `f32` (Knuth's MMIX).
fn random(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(((state >> 33) as f64 / f64::from(1u32 << 30) - 1.0) as f32)
    };
    (0..count).map(|_| next()).collect()
}

/// Compensated sums of blocks of 16, and a tree over invocations.
fn kernel_sum(x: &[f64], invocations: usize) -> f64 {
    let mut partial = vec![0.0f32; invocations];
    for (i, partial) in partial.iter_mut().enumerate() {
        let own: Vec<f32> = x.iter().skip(i).step_by(invocations).map(|&x| x as f32).collect();
        let (mut sum, mut lost) = (0.0f32, 0.0f32);
        for block in own.chunks(16) {
            let block = block.iter().fold(0.0, |sum, x| sum + x);
            let next = sum + block;
            lost += if sum.abs() >= block.abs() { (sum - next) + block } else { (block - next) + sum };
            sum = next;
        }
        *partial = sum + lost;
    }
    while partial.len() > 1 {
        let half = partial.len() / 2;
        partial = (0..half).map(|i| partial[i] + partial[i + half]).collect();
    }
    f64::from(partial[0])
}

#[test]
fn sums_admit_what_kernels_compute() {
    for (count, seed) in [(1, 1), (2, 2), (17, 3), (1000, 4), (100_000, 5)] {
        let x = random(count, seed);
        let b = reduce(ReduceOp::Sum, &exact_row(x.iter().copied()));
        for invocations in [1, 4, 64, 256] {
            let found = kernel_sum(&x, invocations);
            assert!(b.admits(found), "{count} numbers, {invocations} invocations: {found:e} not in {b:?}");
        }
        let width = b.range.high - b.range.low;
        assert!(width < 1e-6 * count as f64 * (8.0 + (count as f64).log2()), "{count} numbers: {width:e}");
    }
}

#[test]
fn sums_do_not_admit_a_single_running_sum_of_many() {
    // One after another in f32, this is 0.9 % off.
    let x = vec![f64::from(0.1f32); 1_000_000];
    let naive = x.iter().fold(0.0f32, |sum, &x| sum + x as f32);
    let b = reduce(ReduceOp::Sum, &exact_row(x.iter().copied()));
    assert!(!b.admits(f64::from(naive)), "{naive} in {b:?}");
    assert!(b.admits(b.exact) && !b.is_loose(1e-5));
}

#[test]
fn sums_that_f32_can_hold_in_any_order_are_exact() {
    let x = exact_row((0..1000).map(|i| f64::from(i % 37) / 8.0 - 2.0));
    assert!(reduce(ReduceOp::Sum, &x).range.low == reduce(ReduceOp::Sum, &x).range.high);
    let one = reduce(ReduceOp::Sum, &exact_row([0.1f32.into()].into_iter()));
    assert_eq!(one.range, Range::point(0.1f32.into()));
    let wide = [bounded(1.0, 0.5, 1.5), Bounded::exact(2.0)];
    assert_eq!(reduce(ReduceOp::Sum, &wide[..]).range.low.max(2.4), reduce(ReduceOp::Sum, &wide).range.low);
}

#[test]
fn an_infinity_or_nan_decides_a_sum() {
    let near = bounded(1.0, 0.9, 1.1);
    let with = |extra: &[f64]| {
        let row: Vec<Bounded> = extra.iter().map(|&x| Bounded::exact(x)).chain([near]).collect();
        reduce(ReduceOp::Sum, &row).range
    };
    assert_eq!(with(&[f64::INFINITY]), Range::point(f64::INFINITY));
    assert_eq!(with(&[f64::NEG_INFINITY, f64::NEG_INFINITY]), Range::point(f64::NEG_INFINITY));
    assert_eq!(with(&[f64::INFINITY, f64::NEG_INFINITY]), Range::NAN);
    assert_eq!(with(&[f64::NAN, 3.0]), Range::NAN);
    assert_eq!(with(&[3e38, 3e38, -3e38]), Range::ANY);
}

#[test]
fn products_lose_an_ulp_for_each_factor() {
    let x = exact_row(random(20, 9).into_iter().map(|x| f64::from((1.0 + x / 4.0) as f32)));
    let b = reduce(ReduceOp::Prod, &x);
    let forward = x.iter().fold(1.0f32, |product, b| product * b.exact as f32);
    let backward = x.iter().rev().fold(1.0f32, |product, b| product * b.exact as f32);
    assert!(b.admits(forward.into()) && b.admits(backward.into()) && b.admits(b.exact));
    assert!(!b.admits(b.exact * 1.001) && !b.is_loose(1e-5));
    let factorial = reduce(ReduceOp::Prod, &exact_row((1..=10).map(f64::from)));
    assert_eq!(factorial.range, Range::point(3_628_800.0));
    let negative = reduce(ReduceOp::Prod, &[bounded(-2.0, -2.5, -1.5), Bounded::exact(3.0)]);
    assert!(negative.admits(-7.4) && negative.admits(-4.6) && !negative.admits(-7.6) && !negative.admits(4.0));
}

#[test]
fn products_at_the_edges_of_f32() {
    let product = |x: &[f64]| reduce(ReduceOp::Prod, &exact_row(x.iter().copied())).range;
    assert_eq!(product(&[f64::INFINITY, -2.0]), Range::point(f64::NEG_INFINITY));
    assert_eq!(product(&[f64::INFINITY, 0.0, 2.0]), Range::NAN);
    assert_eq!(product(&[f64::NAN, 0.0]), Range::NAN);
    assert!(product(&[0.0, 3.0]).contains(0.0) && !product(&[0.0, 3.0]).contains(1e-30));
    let large = product(&[1e30, 1e30, 1e-10]);
    assert!(large.contains(f64::INFINITY) && large.contains(1e50) && !large.contains(-1.0) && !large.nan);
    // 0 in one order, infinite in another.
    assert_eq!(product(&[1e30, 1e30, 1e-30, 1e-30]), Range::ANY);
    let small = product(&[1e-30, 1e-30, 1e20]);
    assert!(small.contains(0.0) && small.contains(1e-40) && !small.contains(1e-10));
}

#[test]
fn extremes_are_exact_over_ranges() {
    let x = [bounded(1.0, 0.5, 1.5), bounded(2.0, 1.2, 2.2), Bounded::exact(-4.0)];
    assert_eq!(reduce(ReduceOp::Max, &x).range, Range::between(1.2, 2.2));
    assert_eq!(reduce(ReduceOp::Min, &x).range, Range::point(-4.0));
    assert_eq!(reduce(ReduceOp::Max, &[Bounded::exact(f64::NAN), x[0]]).range, Range::NAN);
    let masked = exact_row([f64::NEG_INFINITY; 3].into_iter());
    assert_eq!(reduce(ReduceOp::Max, &masked).range, Range::point(f64::NEG_INFINITY));
    assert_eq!(reduce(ReduceOp::Max, &[]).range, Range::point(f64::NEG_INFINITY));
}

#[test]
fn positions_are_those_that_may_win() {
    let position = |op: ReduceOp, x: &[Bounded]| {
        let b = reduce(op, x);
        assert!(b.admits(b.exact), "{b:?}");
        b.range
    };
    let equal = exact_row([1.0, 3.0, 3.0, 2.0].into_iter());
    assert_eq!(position(ReduceOp::ArgMax, &equal), Range::point(1.0));
    assert_eq!(position(ReduceOp::ArgMin, &equal), Range::point(0.0));
    let near = [bounded(2.9, 2.8, 3.0), Bounded::exact(0.0), bounded(3.0, 2.9, 3.1), Bounded::exact(1.0)];
    assert_eq!(position(ReduceOp::ArgMax, &near), Range::between(0.0, 2.0));
    assert_eq!(position(ReduceOp::ArgMin, &near), Range::point(1.0));
    let nan = exact_row([1.0, f64::NAN, 5.0, f64::NAN].into_iter());
    assert_eq!(position(ReduceOp::ArgMax, &nan), Range::point(1.0));
    let maybe = Bounded { exact: 0.0, range: Range { low: 0.0, high: 0.0, nan: true } };
    assert_eq!(
        position(ReduceOp::ArgMax, &[Bounded::exact(1.0), maybe, Bounded::exact(4.0)]),
        Range::between(1.0, 2.0)
    );
    assert_eq!(position(ReduceOp::ArgMin, &[]), Range::point(0.0));
}

#[test]
fn truth_values_and_integers_are_reduced_exactly() {
    let truth = |op, x: &[Bounded]| Bounded::reduce(op, DType::Bool, x).range;
    let (no, yes, open) = (Bounded::exact(0.0), Bounded::exact(1.0), bounded(1.0, 0.0, 1.0));
    assert_eq!(truth(ReduceOp::Any, &[no, open]), Range::between(0.0, 1.0));
    assert_eq!(truth(ReduceOp::Any, &[yes, open]), Range::point(1.0));
    assert_eq!(truth(ReduceOp::All, &[no, open]), Range::point(0.0));
    assert_eq!(truth(ReduceOp::All, &[]), Range::point(1.0));
    let near = bounded(3.0, 2.0, 4.0);
    assert_eq!(integers(ReduceOp::Sum, &[near, near, yes]), Range::between(5.0, 9.0));
    assert_eq!(integers(ReduceOp::Prod, &[near, Bounded::exact(-2.0)]), Range::between(-8.0, -4.0));
    let max = Bounded::exact(i32::MAX.into());
    assert_eq!(integers(ReduceOp::Sum, &[max, yes]), Range::point(i32::MIN.into()));
    assert_eq!(integers(ReduceOp::Sum, &[max, near]), Range::between(i32::MIN.into(), i32::MAX.into()));
    assert_eq!(integers(ReduceOp::Max, &[near, yes]), Range::between(2.0, 4.0));
}

#[test]
fn take_admits_what_stands_at_every_possible_coordinate() {
    let row = [10.0, 20.0, 30.0, 40.0];
    let taken = |index: Bounded| Bounded::take(&index, row.len(), |i| Bounded::exact(row[i]));
    assert_eq!(taken(Bounded::exact(2.0)), Bounded::exact(30.0));
    assert_eq!(taken(Bounded::exact(-9.0)), Bounded::exact(10.0));
    assert_eq!(taken(bounded(1.0, 0.0, 2.0)).range, Range::between(10.0, 30.0));
    assert_eq!(taken(bounded(3.0, 3.0, 99.0)).range, Range::point(40.0));
}

#[test]
fn a_square_is_not_negative() {
    let square = Bounded::square(DType::F32, &bounded(0.1, -0.1, 0.2));
    assert!(square.admits(0.0) && square.admits(0.04) && !square.admits(-1e-6));
    let infinite = Bounded::square(DType::F32, &bounded(1e30, -1e30, 1e30));
    assert!(infinite.admits(f64::INFINITY) && !infinite.admits(f64::NAN));
}

fn each(x: &[Bounded], f: impl Fn(&Bounded) -> Bounded) -> Vec<Bounded> {
    x.iter().map(f).collect()
}

fn op(op: BinaryOp, x: &Bounded, y: &Bounded) -> Bounded {
    Bounded::binary(op, DType::F32, x, y)
}

fn function(op: UnaryOp, x: &Bounded) -> Bounded {
    Bounded::unary(op, DType::F32, x)
}

fn softmax(x: &[Bounded]) -> Vec<Bounded> {
    let max = reduce(ReduceOp::Max, x);
    let e = each(x, |x| function(UnaryOp::Exp, &op(BinaryOp::Sub, x, &max)));
    let sum = reduce(ReduceOp::Sum, &e);
    each(&e, |e| op(BinaryOp::Div, e, &sum))
}

#[test]
fn softmax_has_tight_ranges() {
    let x = exact_row(random(1000, 11).into_iter().map(|x| 20.0 * x));
    let y = softmax(&x);
    for y in &y {
        assert!(y.admits(y.exact) && y.range.low >= 0.0);
        assert!(y.range.high - y.range.low <= 4e-5 * y.exact + 1e-37, "{y:?}");
    }
    let total: f64 = y.iter().map(|y| y.exact).sum();
    assert!((total - 1.0).abs() < 1e-12);
    let masked = softmax(&exact_row([f64::NEG_INFINITY, 1.0, f64::NEG_INFINITY].into_iter()));
    assert!(
        masked[0].range.contains(0.0) && !masked[0].range.nan && masked[1].admits(1.0) && !masked[1].is_loose(1e-4)
    );
    let nothing = softmax(&exact_row([f64::NEG_INFINITY; 2].into_iter()));
    assert!(nothing.iter().all(|y| y.range == Range::NAN));
}

#[test]
fn normalization_has_tight_ranges() {
    for (offset, tolerance) in [(0.0, 1e-4), (100.0, 5e-3)] {
        let x = exact_row(random(768, 12).into_iter().map(|x| f64::from((3.0 * x + offset) as f32)));
        let count = Bounded::exact(768.0);
        let mean = op(BinaryOp::Div, &reduce(ReduceOp::Sum, &x), &count);
        let centered = each(&x, |x| op(BinaryOp::Sub, x, &mean));
        let squares = each(&centered, |d| Bounded::square(DType::F32, d));
        let variance = op(BinaryOp::Div, &reduce(ReduceOp::Sum, &squares), &count);
        assert!((variance.exact - 3.0).abs() < 0.3, "{variance:?}");
        let scale = function(UnaryOp::Rsqrt, &op(BinaryOp::Add, &variance, &Bounded::exact(1e-5f32.into())));
        let y = each(&centered, |d| op(BinaryOp::Mul, d, &scale));
        assert!(y.iter().all(|y| y.admits(y.exact) && !y.is_loose(tolerance)), "offset {offset}: {:?}", y[0]);
    }
}

#[test]
fn a_constant_row_has_a_variance_that_is_not_negative() {
    let x = exact_row([f64::from(0.1f32); 100].into_iter());
    let count = Bounded::exact(100.0);
    let mean = op(BinaryOp::Div, &reduce(ReduceOp::Sum, &x), &count);
    let squares = each(&x, |x| Bounded::square(DType::F32, &op(BinaryOp::Sub, x, &mean)));
    let variance = op(BinaryOp::Div, &reduce(ReduceOp::Sum, &squares), &count);
    assert!(variance.admits(0.0) && variance.range.low > -1e-30 && variance.range.high < 1e-11, "{variance:?}");
    let scale = function(UnaryOp::Rsqrt, &op(BinaryOp::Add, &variance, &Bounded::exact(1e-5f32.into())));
    assert!(!scale.is_loose(0.01), "{scale:?}");
}
