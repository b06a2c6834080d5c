//! Pointwise operations on plain numbers: the definitions.
//!
//! Floats follow IEEE arithmetic of the formulas in [`UnaryOp`] and [`BinaryOp`], so that for example
//! `silu(-inf)` is `-inf · 0`, a NaN. Formulas are arranged so that no step overflows, and no digits are
//! lost, where the result is an ordinary number.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use fuse_artifact::DType;
use half::f16;

use super::{Element, contraction, philox, reduce};
use crate::graph::{BinaryOp, CompareOp, ReduceOp, UnaryOp};

impl Element for f64 {
    fn approximate(x: f64, _: f64) -> Self {
        x
    }

    fn exact(x: f64) -> Self {
        x
    }

    fn unary(op: UnaryOp, dtype: DType, x: &Self) -> Self {
        match dtype {
            DType::F32 | DType::F16 => float_unary(op, *x),
            DType::I32 => i32_unary(op, *x as i32).into(),
            DType::U32 => u32_unary(op, *x as u32).into(),
            DType::Bool => 1.0 - x,
        }
    }

    fn binary(op: BinaryOp, dtype: DType, x: &Self, y: &Self) -> Self {
        match dtype {
            DType::F32 | DType::F16 => float_binary(op, *x, *y),
            DType::I32 => i32_binary(op, *x as i32, *y as i32).into(),
            DType::U32 => u32_binary(op, *x as u32, *y as u32).into(),
            DType::Bool => bool_binary(op, *x, *y),
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

/// The coordinate from 0 to `extent - 1` that is nearest to an integer.
pub(super) fn inside(index: f64, extent: usize) -> usize {
    (index.max(0.0) as usize).min(extent - 1)
}

/// The nearest value of a float dtype, ties to even; other dtypes hold `x` exactly.
pub(super) fn round_to(dtype: DType, x: f64) -> f64 {
    match dtype {
        DType::F32 => f64::from(x as f32),
        DType::F16 => f16::from_f64(x).to_f64(),
        DType::I32 | DType::U32 | DType::Bool => x,
    }
}

/// Rust's `as`, with `!= 0` for `bool`: floats saturate, integers wrap.
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

/// Scale and slope of `selu` (Klambauer et al. 2017).
const SELU_SCALE: f64 = 1.0507009873554805;
const SELU_ALPHA: f64 = 1.6732632423543772;

fn float_unary(op: UnaryOp, x: f64) -> f64 {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Not => 1.0 - x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => sign(x),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Rsqrt => 1.0 / x.sqrt(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Exp2 => x.exp2(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log2 => x.log2(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Erf => libm::erf(x),
        UnaryOp::Recip => 1.0 / x,
        UnaryOp::Relu => max(x, 0.0),
        UnaryOp::Selu => SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * x.exp_m1() },
        // 1 + erf(z) = erfc(-z), which keeps its digits for negative z.
        UnaryOp::Gelu => x / 2.0 * libm::erfc(-x * FRAC_1_SQRT_2),
        // 1 + tanh(z) = 2·sigmoid(2z), which keeps its digits for negative z.
        UnaryOp::GeluTanh => x * sigmoid(2.0 * FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3))),
        UnaryOp::Silu => x * sigmoid(x),
        UnaryOp::Sigmoid => sigmoid(x),
        UnaryOp::HardSigmoid => hard_sigmoid(x),
        UnaryOp::HardSwish => x * hard_sigmoid(x),
        UnaryOp::Softplus => softplus(x),
        UnaryOp::Mish => x * softplus(x).tanh(),
    }
}

fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn hard_sigmoid(x: f64) -> f64 {
    min(max(x / 6.0 + 0.5, 0.0), 1.0)
}

fn softplus(x: f64) -> f64 {
    max(x, 0.0) + (-x.abs()).exp().ln_1p()
}

/// The larger; NaN if either is NaN (unlike `f64::max`).
fn max(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }
}

/// The smaller; NaN if either is NaN (unlike `f64::min`).
fn min(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.min(y) }
}

fn float_binary(op: BinaryOp, x: f64, y: f64) -> f64 {
    match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Rem => x % y,
        BinaryOp::Pow => x.powf(y),
        BinaryOp::Min => min(x, y),
        BinaryOp::Max => max(x, y),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Philox => bool_binary(op, x, y),
    }
}

/// Integers know only some of the operations; `verify` refuses the others, which leave `x` as it is here.
fn i32_unary(op: UnaryOp, x: i32) -> i32 {
    match op {
        UnaryOp::Neg => x.wrapping_neg(),
        UnaryOp::Abs => x.wrapping_abs(),
        UnaryOp::Sign => x.signum(),
        UnaryOp::Relu => x.max(0),
        _ => x,
    }
}

fn u32_unary(op: UnaryOp, x: u32) -> u32 {
    match op {
        UnaryOp::Neg => x.wrapping_neg(),
        UnaryOp::Sign => x.min(1),
        _ => x,
    }
}

fn i32_binary(op: BinaryOp, x: i32, y: i32) -> i32 {
    match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div if y == 0 => x,
        BinaryOp::Div => x.wrapping_div(y),
        BinaryOp::Rem if y == 0 => 0,
        BinaryOp::Rem => x.wrapping_rem(y),
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::Pow | BinaryOp::And | BinaryOp::Or | BinaryOp::Philox => x,
    }
}

fn u32_binary(op: BinaryOp, x: u32, y: u32) -> u32 {
    match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div => x.checked_div(y).unwrap_or(x),
        BinaryOp::Rem => x.checked_rem(y).unwrap_or(0),
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::Philox => philox::word(x, y),
        BinaryOp::Pow | BinaryOp::And | BinaryOp::Or => x,
    }
}

fn bool_binary(op: BinaryOp, x: f64, y: f64) -> f64 {
    if op == BinaryOp::And { x.min(y) } else { x.max(y) }
}
