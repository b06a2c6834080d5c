//! Definitions in f64 of more than one expression.
//!
//! Floats follow IEEE arithmetic of the formulas: `silu(-inf)` is `-inf · 0`, a NaN. No step overflows or cancels where
//! the result is an ordinary number.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

/// Klambauer et al. 2017.
pub(crate) const SELU_SCALE: f64 = 1.0507009873554805;
pub(crate) const SELU_ALPHA: f64 = 1.6732632423543772;

pub(super) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

pub(super) fn selu(x: f64) -> f64 {
    SELU_SCALE * if x > 0.0 { x } else { SELU_ALPHA * x.exp_m1() }
}

pub(super) fn gelu(x: f64) -> f64 {
    // 1 + erf(z) = erfc(-z), without cancellation for negative z.
    x / 2.0 * libm::erfc(-x * FRAC_1_SQRT_2)
}

pub(super) fn gelu_tanh(x: f64) -> f64 {
    // 1 + tanh(z) = 2·sigmoid(2z), without cancellation for negative z.
    x * sigmoid(2.0 * FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3)))
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

pub(super) fn hard_sigmoid(x: f64) -> f64 {
    min(max(x / 6.0 + 0.5, 0.0), 1.0)
}

pub(super) fn softplus(x: f64) -> f64 {
    max(x, 0.0) + (-x.abs()).exp().ln_1p()
}

/// Rust's version overflows at large arguments.
pub(super) fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let value =
        if a > 1e9 { a.ln() + std::f64::consts::LN_2 } else { (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p() };
    value.copysign(x)
}

pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    let t = x - 1.0;
    if x > 1e9 { x.ln() + std::f64::consts::LN_2 } else { (t + (t * (x + 1.0)).sqrt()).ln_1p() }
}

pub(super) fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

/// Maximum; NaN if either is NaN (unlike `f64::max`).
pub(super) fn max(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }
}

/// Minimum; NaN if either is NaN (unlike `f64::min`).
pub(super) fn min(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.min(y) }
}
