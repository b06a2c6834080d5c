//! Accuracy of float operations beyond their rows of the operations' table, on exact `f32` operands.
//!
//! Errors are in units of `u = 2^-23` (an ulp is at most `u` relative). A WGSL builtin has WGSL's guarantee (§15.7.4),
//! or that of all known drivers. A formula of ours has the sum of its steps, or an approximation's own error. `f16` is
//! computed in `f32` and rounded once per store, which ranges add.
//!
//! Measured on lavapipe (Mesa 22.3), 200 000 arguments from -80 to 80, in ulps of the result: `rsqrt`, `sin` 1; `atan`,
//! `erf` 1.3; `cos` 1.4; `log1p`, `tan` 2; `exp2` 2.2; `tanh` 2.8; `selu` 3; `exp`, `expm1`, `sigmoid`, `silu`,
//! `softplus`, `mish` 32 at -80, where the table allows 163 (the exponent's rounding grows with its magnitude).
//! Relative to the larger of 1 and the result: `log` 1.5, `log2` 1.2, `gelu` 1, `gelu_tanh` 1.4, `hard_sigmoid` 0.5,
//! `hard_swish` 1; all others are exact.

use super::Range;
use crate::operations::{Accuracy, Turns, ULP, UnaryOp};

impl Accuracy {
    /// Range around the exact outcome `f` of `x`.
    pub(super) fn widen(self, f: f64, x: f64) -> Range {
        if !f.is_finite() {
            return Range::point(f);
        }
        let x = if x.is_finite() { x.abs() } else { 0.0 };
        let ulps = (self.result + self.growth * x) * f.abs() + self.argument * x + self.pole * x * f * f;
        let error = ULP * ulps + self.absolute;
        Range::between(f - error, f + error)
    }
}

/// WGSL's guarantee for division, in ulps.
pub const DIV: Accuracy = Accuracy::ulps(2.5);

/// Largest divisor with that guarantee; then the reciprocal is subnormal.
pub const DIV_LARGEST: f64 = 8.507059173023462e37;

/// Error of `x - y·trunc(x/y)` in ulps of `x`: one rounding each of product and difference.
pub const REM_ULPS: f64 = 1.0;

/// Error of `pow(x, y) = exp2(e)`, `e = y·log2(x)`, in ulps, as WGSL's `exp2`.
pub const POW_ULPS: f64 = 3.0;

/// Ulps per unit of `e`: 2 from `exp2`, `ln 2` times 3 of `log2` and 1 of the product.
pub const POW_ULPS_PER_EXPONENT: f64 = 5.0;

/// Ulps per unit of `y`: `ln 2` times the 2^-21 (4 ulps) of `log2` near 1.
pub const POW_ULPS_PER_POWER: f64 = 3.0;

/// `γ_n` of `n` products in `f32`, and a rounding of a final scaling.
pub fn gamma(n: usize) -> f64 {
    let error = (n + 1) as f64 * ULP / 2.0;
    error / (1.0 - error)
}

/// Error bound of a kernel's sum of `n` elements, relative to the sum of magnitudes: `(2·⌈log₂ n⌉ + 16)·2^-24`.
///
/// An invocation adds at most 16 elements in sequence (or lanes of a vector, and these in a tree): at most 16
/// roundings. Sums of such blocks are compensated, at two roundings for any number (Neumaier 1974). Sums of invocations
/// and of a split row's workgroups form a tree of at most `⌈log₂ n⌉` levels, each counted twice because drivers round
/// in either direction. At least as tight as pairwise summation; unlike [`gamma`], it does not grow with `n`.
pub fn sum(n: usize) -> f64 {
    let levels = n.next_power_of_two().trailing_zeros();
    if n <= 1 { 0.0 } else { f64::from(2 * levels + 16) * ULP / 2.0 }
}

/// Ulps per factor of a product, rounded in either direction.
pub const PROD_ULPS_PER_FACTOR: f64 = 1.0;

/// Largest guaranteed argument of `sin`, `cos` and `tan`. Beyond it, the reduction may subtract a wrong multiple of
/// π/2.
pub const PERIODIC_LARGEST: f64 = 1_048_576.0;

/// Largest argument whose `k` has exact products with the first two parts of π/2: `k ≤ 2^13`.
const PERIODIC_EXACT: f64 = 12_800.0;

/// Error of the argument reduction, in ulps of the argument: the rounding of the third part of π/2, 2^-24 of the whole.
const REDUCTION: f64 = 1.0 / 8_388_608.0;

/// Accuracy for arguments of magnitude up to `largest`.
pub fn unary(op: UnaryOp, largest: f64) -> Accuracy {
    let (accuracy, turns) = (op.row().accuracy, op.row().turns);
    let reduction = if largest <= PERIODIC_EXACT { REDUCTION } else { 1.0 };
    match turns {
        Turns::EveryQuarter => Accuracy { argument: reduction, ..accuracy },
        Turns::Poles => Accuracy { argument: 2.0 * reduction, pole: 2.0 * reduction, ..accuracy },
        Turns::At(_) | Turns::AtIntegers => accuracy,
    }
}
