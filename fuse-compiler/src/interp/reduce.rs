//! Reductions, and their definitions on rows of plain numbers.

use fuse_artifact::DType;

use super::{
    Element, Tensor,
    tensor::{for_each_index, strides},
};
use crate::graph::ReduceOp;

pub(super) fn reduce<E: Element>(
    op: ReduceOp,
    x: &Tensor<E>,
    axes: &[usize],
    dtype: DType,
    shape: Vec<usize>,
) -> Tensor<E> {
    let steps = strides(&x.shape);
    let offset = |index: &[usize]| -> usize { index.iter().zip(&steps).map(|(i, step)| i * step).sum() };
    let reduced: Vec<usize> =
        x.shape.iter().enumerate().map(|(axis, &extent)| if axes.contains(&axis) { extent } else { 1 }).collect();
    let mut offsets = Vec::with_capacity(reduced.iter().product());
    for_each_index(&reduced, |index| offsets.push(offset(index)));
    let mut data = Vec::with_capacity(shape.iter().product());
    let mut row = Vec::with_capacity(offsets.len());
    for_each_index(&shape, |index| {
        let first = offset(index);
        row.clear();
        row.extend(offsets.iter().map(|offset| x.data[first + offset].clone()));
        data.push(E::reduce(op, x.dtype, &row));
    });
    Tensor::new(dtype, shape, data)
}

pub(super) fn row(op: ReduceOp, dtype: DType, x: &[f64]) -> f64 {
    match op {
        ReduceOp::Sum => sum(dtype, x),
        ReduceOp::Prod => prod(dtype, x),
        ReduceOp::ArgMax => position(x, |x, best| x > best) as f64,
        ReduceOp::ArgMin => position(x, |x, best| x < best) as f64,
        ReduceOp::Max | ReduceOp::Min | ReduceOp::Any | ReduceOp::All => {
            let larger = matches!(op, ReduceOp::Max | ReduceOp::Any);
            extreme(x, neutral(op, dtype), |x, best| if larger { x > best } else { x < best })
        }
    }
}

pub(super) fn neutral(op: ReduceOp, dtype: DType) -> f64 {
    match (op, dtype) {
        (ReduceOp::Prod | ReduceOp::All, _) => 1.0,
        (ReduceOp::Max, DType::F32 | DType::F16) => f64::NEG_INFINITY,
        (ReduceOp::Max, DType::I32) => i32::MIN.into(),
        (ReduceOp::Min, DType::F32 | DType::F16) => f64::INFINITY,
        (ReduceOp::Min, DType::I32) => i32::MAX.into(),
        (ReduceOp::Min, DType::U32) => u32::MAX.into(),
        _ => 0.0,
    }
}

/// Integers wrap. Floats carry rounding errors along (Neumaier 1974), so ten million terms that cancel keep an `f32`'s
/// digits.
fn sum(dtype: DType, x: &[f64]) -> f64 {
    match dtype {
        DType::I32 => return x.iter().fold(0i32, |sum, &x| sum.wrapping_add(x as i32)).into(),
        DType::U32 | DType::Bool => return x.iter().fold(0u32, |sum, &x| sum.wrapping_add(x as u32)).into(),
        DType::F32 | DType::F16 => {}
    }
    let (mut sum, mut lost) = (0.0, 0.0);
    for &x in x {
        let next: f64 = sum + x;
        lost += if f64::abs(sum) >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        sum = next;
    }
    // The error of an infinite sum is NaN.
    if sum.is_finite() { sum + lost } else { sum }
}

fn prod(dtype: DType, x: &[f64]) -> f64 {
    match dtype {
        DType::I32 => x.iter().fold(1i32, |product, &x| product.wrapping_mul(x as i32)).into(),
        DType::U32 | DType::Bool => x.iter().fold(1u32, |product, &x| product.wrapping_mul(x as u32)).into(),
        DType::F32 | DType::F16 => x.iter().product(),
    }
}

/// First number that `beats` all others and `neutral`, or NaN.
fn extreme(x: &[f64], neutral: f64, beats: impl Fn(f64, f64) -> bool) -> f64 {
    x.iter().fold(neutral, |best, &x| if x.is_nan() || beats(x, best) { x } else { best })
}

/// First position that none `beats`, or of the first NaN; 0 for an empty row.
fn position(x: &[f64], beats: impl Fn(f64, f64) -> bool) -> usize {
    if let Some(nan) = x.iter().position(|x| x.is_nan()) {
        return nan;
    }
    (1..x.len()).fold(0, |best, i| if beats(x[i], x[best]) { i } else { best })
}
