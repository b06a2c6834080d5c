//! Derivatives in f64 of more than one expression, for forward mode.
//!
//! No step overflows or cancels where the derivative is an ordinary number.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, FRAC_2_SQRT_PI, PI};

use super::functions::{SELU_ALPHA, SELU_SCALE, sigmoid, softplus};

pub(super) fn of_asin(x: f64) -> f64 {
    1.0 / ((1.0 - x) * (1.0 + x)).sqrt()
}

pub(super) fn of_erf(x: f64) -> f64 {
    FRAC_2_SQRT_PI * (-x * x).exp()
}

pub(super) fn of_selu(x: f64) -> f64 {
    SELU_SCALE * if x > 0.0 { 1.0 } else { SELU_ALPHA * x.exp() }
}

/// Cumulative normal distribution, plus x times its density.
pub(super) fn of_gelu(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2) + x * (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Derivative of `x·sigmoid(u)`.
pub(super) fn of_gelu_tanh(x: f64) -> f64 {
    let u = 2.0 * FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3));
    let of_u = 2.0 * FRAC_2_PI.sqrt() * (1.0 + 3.0 * 0.044715 * x * x);
    sigmoid(u) + x * of_sigmoid(u) * of_u
}

pub(super) fn of_silu(x: f64) -> f64 {
    sigmoid(x) + x * of_sigmoid(x)
}

pub(super) fn of_sigmoid(x: f64) -> f64 {
    sigmoid(x) * sigmoid(-x)
}

pub(super) fn of_hard_sigmoid(x: f64) -> f64 {
    if -3.0 < x && x < 3.0 { 1.0 / 6.0 } else { 0.0 }
}

pub(super) fn of_hard_swish(x: f64) -> f64 {
    if x >= 3.0 {
        1.0
    } else if x > -3.0 {
        x / 3.0 + 0.5
    } else {
        0.0
    }
}

pub(super) fn of_mish(x: f64) -> f64 {
    let inner = softplus(x);
    inner.tanh() + x * inner.cosh().powi(-2) * sigmoid(x)
}

/// `x^0` is constant, even where `x^-1` is infinite; so is `0^y` for `y > 0`.
pub(super) fn of_pow(x: f64, y: f64) -> [f64; 2] {
    let of_x = if y == 0.0 { 0.0 } else { y * x.powf(y - 1.0) };
    let of_y = if x == 0.0 && y >= 0.0 { 0.0 } else { x.powf(y) * x.ln() };
    [of_x, of_y]
}

/// Ties share.
pub(super) fn of_larger(x: f64, y: f64) -> [f64; 2] {
    if x > y {
        [1.0, 0.0]
    } else if x < y {
        [0.0, 1.0]
    } else {
        [0.5, 0.5]
    }
}

pub(super) fn of_atan2(x: f64, y: f64) -> [f64; 2] {
    let length = x.hypot(y);
    if length == 0.0 { [0.0; 2] } else { [y / length / length, -x / length / length] }
}

pub(super) fn of_hypot(x: f64, y: f64) -> [f64; 2] {
    let length = x.hypot(y);
    if length == 0.0 { [0.0; 2] } else { [x / length, y / length] }
}
