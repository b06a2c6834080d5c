//! Plain numbers: evaluates the table of operations, comparisons and conversions.

use fuse_artifact::DType;
use half::f16;

use super::{Element, contraction, reduce};
use crate::{
    graph::{CompareOp, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

impl Element for f64 {
    fn approximate(x: f64, _: f64) -> Self {
        x
    }

    fn exact(x: f64) -> Self {
        x
    }

    fn unary(op: UnaryOp, dtype: DType, x: &Self) -> Self {
        match op.row().integer {
            Some(integer) if dtype.is_integer() => wrapped(dtype, (integer.value)(*x as i64)),
            _ => (op.row().value)(*x),
        }
    }

    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self {
        match op.row().integer {
            Some(integer) if dtype.is_integer() => wrapped(dtype, (integer.value)(*x as i64, *y as i64)),
            _ => (op.row().value)(*x, *y),
        }
    }

    fn compare(op: CompareOp, _: DType, x: &Self, y: &Self) -> Self {
        let holds = match op {
            CompareOp::Eq => x == y,
            CompareOp::Ne => x != y,
            CompareOp::Lt => x < y,
            CompareOp::Le => x <= y,
            CompareOp::Gt => x > y,
            CompareOp::Ge => x >= y,
        };
        f64::from(u8::from(holds))
    }

    fn select(condition: &Self, x: &Self, y: &Self) -> Self {
        if *condition != 0.0 { *x } else { *y }
    }

    fn cast(from: DType, to: DType, x: &Self) -> Self {
        convert(from, to, *x)
    }

    fn dot(dtype: DType, x: &[Self], y: &[Self]) -> Self {
        contraction::dot(dtype, x, y)
    }

    fn reduce(op: ReduceOp, dtype: DType, x: &[Self]) -> Self {
        reduce::row(op, dtype, x)
    }

    fn take(index: &Self, extent: usize, at: impl Fn(usize) -> Self) -> Self {
        at(inside(*index, extent))
    }

    fn stored(dtype: DType, x: &Self) -> Self {
        round_to(dtype, *x)
    }
}

/// Low 32 bits.
fn wrapped(dtype: DType, x: i64) -> f64 {
    if dtype == DType::U32 { f64::from(x as u32) } else { f64::from(x as i32) }
}

/// Nearest coordinate from 0 to `extent - 1`.
pub(super) fn inside(index: f64, extent: usize) -> usize {
    (index.max(0.0) as usize).min(extent - 1)
}

/// Nearest float, ties to even; other dtypes hold `x`.
pub(super) fn round_to(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f16::from_f64(x).to_f64(),
        DType::I32 | DType::U32 | DType::Bool => x,
    }
}

/// Rust's `as`, with `!= 0` for `bool`.
fn convert(from: DType, to: DType, x: f64) -> f64 {
    match to {
        DType::F32 | DType::F16 => round_to(to, x),
        DType::I32 if from.is_float() => f64::from(x as i32),
        DType::U32 if from.is_float() => f64::from(x as u32),
        DType::I32 => f64::from(x as i64 as i32),
        DType::U32 => f64::from(x as i64 as u32),
        DType::Bool => f64::from(u8::from(x != 0.0)),
    }
}
