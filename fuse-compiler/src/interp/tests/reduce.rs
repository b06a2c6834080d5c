//! Compares reductions, `take`, sizes and Philox with hand-computed values.

use super::*;

const ALL_NUMBERS: [DType; 4] = [DType::F32, DType::F16, DType::I32, DType::U32];

fn reduce(op: ReduceOp, dtype: DType, x: &[f64]) -> f64 {
    f64::reduce(op, dtype, x)
}

fn reduced(op: ReduceOp, x: Value, axes: &[usize]) -> Value {
    let mut b = Builder::new();
    let input = b.input(x.shape.len() as u8, false);
    let mut shape = b.shape(input);
    axes.iter().for_each(|&axis| shape[axis] = Size::ONE);
    let dtype = if op.yields_index() { DType::I32 } else { DType::F32 };
    let result = b.node(Op::Reduce { op, x: input, axes: axes.to_vec() }, TensorType::new(dtype, shape));
    b.run(result, &[x]).unwrap()
}

#[test]
fn rows_are_taken_together_along_any_axes() {
    use ReduceOp as R;
    let x = || iota(&[2, 3, 4]);
    assert_eq!(reduced(R::Sum, x(), &[2]), value(&[2, 3, 1], &[6.0, 22.0, 38.0, 54.0, 70.0, 86.0]));
    assert_eq!(reduced(R::Sum, x(), &[1]), value(&[2, 1, 4], &[12.0, 15.0, 18.0, 21.0, 48.0, 51.0, 54.0, 57.0]));
    assert_eq!(reduced(R::Max, x(), &[0, 2]), value(&[1, 3, 1], &[15.0, 19.0, 23.0]));
    assert_eq!(reduced(R::Min, x(), &[0, 1]), value(&[1, 1, 4], &[0.0, 1.0, 2.0, 3.0]));
    assert_eq!(reduced(R::Sum, x(), &[0, 1, 2]), value(&[1, 1, 1], &[276.0]));
    let position = reduced(R::ArgMax, value(&[2, 3], &[1.0, 3.0, 2.0, 9.0, 8.0, 7.0]), &[1]);
    assert_eq!((position.dtype, position.data), (DType::I32, vec![1.0, 0.0]));
    let position = reduced(R::ArgMin, value(&[2, 3], &[1.0, 3.0, 2.0, 9.0, 2.0, 7.0]), &[0]);
    assert_eq!(position.data, [0.0, 1.0, 0.0]);
}

#[test]
fn nothing_reduces_to_the_neutral_element() {
    use ReduceOp as R;
    assert_eq!(reduced(R::Sum, value(&[2, 0], &[]), &[1]), value(&[2, 1], &[0.0, 0.0]));
    assert_eq!(reduced(R::Sum, value(&[0, 2], &[]), &[1]), value(&[0, 1], &[]));
    let (least, largest) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let cases = [
        (R::Sum, [0.0; 4]),
        (R::Prod, [1.0; 4]),
        (R::Max, [-INF, -INF, least, 0.0]),
        (R::Min, [INF, INF, largest, u32::MAX.into()]),
        (R::ArgMax, [0.0; 4]),
        (R::ArgMin, [0.0; 4]),
    ];
    for (op, expected) in cases {
        for (dtype, expected) in ALL_NUMBERS.into_iter().zip(expected) {
            assert_eq!(reduce(op, dtype, &[]), expected, "{} of no {dtype}", op.name());
        }
    }
    assert_eq!(reduce(R::Any, DType::Bool, &[]), 0.0);
    assert_eq!(reduce(R::All, DType::Bool, &[]), 1.0);
}

#[test]
fn nan_wins_every_reduction_of_floats() {
    use ReduceOp as R;
    for op in [R::Sum, R::Prod, R::Max, R::Min] {
        for x in [[NAN, 1.0, 2.0], [1.0, NAN, 0.0], [1.0, INF, NAN]] {
            assert!(reduce(op, DType::F32, &x).is_nan(), "{} of {x:?}", op.name());
        }
    }
    for op in [R::ArgMax, R::ArgMin] {
        assert_eq!(reduce(op, DType::F32, &[INF, -INF, NAN, 3.0, NAN]), 2.0, "{}", op.name());
    }
}

#[test]
fn positions_are_the_first_of_equals() {
    use ReduceOp as R;
    assert_eq!(reduce(R::ArgMax, DType::F32, &[1.0, 5.0, 5.0, 2.0]), 1.0);
    assert_eq!(reduce(R::ArgMin, DType::I32, &[4.0, -7.0, -7.0]), 1.0);
    assert_eq!(reduce(R::ArgMax, DType::F32, &[-0.0, 0.0]), 0.0);
    assert_eq!(reduce(R::ArgMax, DType::F32, &[-INF, -INF]), 0.0);
}

#[test]
fn infinities_follow_ieee_arithmetic() {
    use ReduceOp as R;
    assert_eq!(reduce(R::Sum, DType::F32, &[1.0, INF, 2.0]), INF);
    assert!(reduce(R::Sum, DType::F32, &[INF, -INF]).is_nan());
    assert!(reduce(R::Prod, DType::F32, &[INF, 0.0]).is_nan());
    assert_eq!(reduce(R::Prod, DType::F32, &[-INF, 2.0]), -INF);
    assert_eq!(reduce(R::Max, DType::F32, &[-INF, -INF]), -INF);
}

#[test]
fn integers_wrap() {
    use ReduceOp as R;
    let max = f64::from(i32::MAX);
    assert_eq!(reduce(R::Sum, DType::I32, &[max, 1.0]), f64::from(i32::MIN));
    assert_eq!(reduce(R::Sum, DType::I32, &[max, 1.0, max]), -1.0);
    assert_eq!(reduce(R::Prod, DType::I32, &[65536.0, 65536.0, 3.0]), 0.0);
    assert_eq!(reduce(R::Prod, DType::U32, &[4294967295.0, 2.0]), 4294967294.0);
    assert_eq!(reduce(R::Sum, DType::U32, &[4294967295.0, 3.0]), 2.0);
    assert_eq!(reduce(R::Max, DType::I32, &[-5.0, -3.0]), -3.0);
    assert_eq!(reduce(R::Any, DType::Bool, &[0.0, 1.0, 0.0]), 1.0);
    assert_eq!(reduce(R::All, DType::Bool, &[1.0, 1.0, 0.0]), 0.0);
}

#[test]
fn sums_keep_their_digits_through_cancellation() {
    // Without compensation, pairs erase the third number.
    let x: Vec<f64> = (0..999_999).map(|i| [1e20, 0.001, -1e20][i % 3]).collect();
    assert!((reduce(ReduceOp::Sum, DType::F32, &x) - 333.333).abs() < 1e-6);
    let tenths = vec![f64::from(0.1f32); 10_000_000];
    assert!((reduce(ReduceOp::Sum, DType::F32, &tenths) - 1e7 * f64::from(0.1f32)).abs() < 1e-9);
}

#[test]
fn take_reads_at_coordinates_moved_inside() {
    let taken = |table: Value, axis: usize, ids: &[f64], shape: &[usize]| {
        let mut b = Builder::new();
        let x = b.input(2, false);
        let index = b.input(2, false);
        b.0.params[1].ty.dtype = DType::I32;
        b.0.nodes[index].ty.dtype = DType::I32;
        let ty = TensorType::new(DType::F32, b.shape(index));
        let result = b.node(Op::Take { x, axis, index }, ty);
        let ids = Value { dtype: DType::I32, ..value(shape, ids) };
        b.run(result, &[table, ids])
    };
    // Rows 2, 0, and rows before the first and after the last.
    let rows = [2.0, 2.0, 0.0, 0.0, -3.0, 7.0, 1.0, 1.0];
    let expected = value(&[4, 2], &[4.0, 5.0, 0.0, 1.0, 0.0, 5.0, 2.0, 3.0]);
    assert_eq!(taken(iota(&[3, 2]), 0, &rows, &[4, 2]).unwrap(), expected);
    assert_eq!(taken(iota(&[2, 3]), 1, &[2.0, 0.0], &[2, 1]).unwrap(), value(&[2, 1], &[2.0, 3.0]));
    assert_eq!(taken(value(&[2, 0], &[]), 1, &[0.0, 5.0], &[2, 1]).unwrap(), value(&[2, 1], &[0.0, 0.0]));
    let error = taken(iota(&[3, 2]), 0, &[0.0], &[1, 1]).unwrap_err();
    assert_eq!(error.to_string(), "cannot take shape [3, 2] to [1, 1]");
}

#[test]
fn sizes_are_numbers_of_their_dtype() {
    let size = |dtype: DType, extent: usize| {
        let mut b = Builder::new();
        let x = b.input(1, false);
        let count = b.shape(x).remove(0).mul(&1_000_001.into());
        let result = b.node(Op::Size(count), TensorType::new(dtype, vec![]));
        b.run(result, &[iota(&[extent])]).map(|value| value.data[0])
    };
    assert_eq!(size(DType::I32, 3), Ok(3_000_003.0));
    // 17 000 017 is odd and above 2^24.
    assert_eq!(size(DType::F32, 17), Ok(17_000_016.0));
    assert_eq!(size(DType::I32, 3000), Err(InterpError::Size));
    assert_eq!(size(DType::U32, 3000), Ok(3_000_003_000.0));
}

#[test]
fn philox_yields_words_of_its_blocks() {
    let word = |position: f64, seed: f64| f64::binary(BinaryOp::Philox, DType::U32, &position, &seed);
    let known = [0x6627_e8d5u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    for (position, expected) in known.into_iter().enumerate() {
        assert_eq!(word(position as f64, 0.0), f64::from(expected));
    }
    assert_ne!(word(0.0, 1.0), word(0.0, 0.0));
    assert_ne!(word(4.0, 0.0), word(0.0, 0.0));
}
