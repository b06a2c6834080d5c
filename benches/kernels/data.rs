//! Operands as functions of the index: the host recomputes elements to check results.

use fuse_gpu::Float;

pub(crate) trait Real: Float + Into<f64> {}

impl<T: Float + Into<f64>> Real for T {}

/// Multiples of 1/64 in [-1, 1): exact in `f16`, in products and in most sums.
#[derive(Clone, Copy)]
pub(crate) struct Values {
    pub(crate) seed: u32,
}

pub(crate) const A: Values = Values { seed: 1 };
pub(crate) const B: Values = Values { seed: 2 };
pub(crate) const C: Values = Values { seed: 3 };
pub(crate) const D: Values = Values { seed: 4 };

impl Values {
    pub(crate) fn at(self, index: usize) -> f64 {
        // One round of a multiplicative hash: neighbors must differ.
        let hash = (index as u32 ^ self.seed.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b);
        f64::from((hash >> 25) as i32 - 64) / 64.0
    }

    pub(crate) fn vec<T: Real>(self, count: usize) -> Vec<T> {
        (0..count).map(|index| T::from_f32(self.at(index) as f32)).collect()
    }

    pub(crate) fn dot(self, other: Self, pairs: impl Iterator<Item = (usize, usize)>, f: fn(f64) -> f64) -> f64 {
        pairs.map(|(i, j)| f(self.at(i)) * other.at(j)).sum()
    }
}

/// `x/2·(1 + erf(x/√2))`, erf by its Maclaurin series, which converges fast for |x| ≤ 1.
pub(crate) fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let (mut term, mut erf) = (z, z);
    for n in 1..30 {
        let n = f64::from(n);
        term *= -z * z / n;
        erf += term / (2.0 * n + 1.0);
    }
    x / 2.0 * (1.0 + erf * std::f64::consts::FRAC_2_SQRT_PI)
}

const CHECKED: usize = 64;

/// Largest error of some sums of `depth` products, relative to the rounding bound: 16 units in the last place of the
/// larger of 1 and the expected value, plus a little per product.
pub(crate) fn worst_error<T: Real>(values: &[T], depth: usize, expected: &dyn Fn(usize) -> f64) -> f64 {
    let epsilon = if T::DTYPE.bytes() == 2 { f64::powi(2.0, -11) } else { f64::powi(2.0, -24) };
    let per_sum = depth as f64 * f64::powi(2.0, -22);
    let step = (values.len() / CHECKED).max(1) | 1;
    let errors = (0..values.len()).step_by(step).chain(values.len().checked_sub(1)).map(|index| {
        let (actual, expected): (f64, f64) = (values[index].into(), expected(index));
        (actual - expected).abs() / (32.0 * epsilon * expected.abs().max(1.0) + per_sum)
    });
    worst(errors)
}

/// The largest error; NaN if there is one, which `f64::max` would drop.
pub(crate) fn worst(errors: impl IntoIterator<Item = f64>) -> f64 {
    errors.into_iter().fold(0.0, |worst, error| if worst.is_nan() || error <= worst { worst } else { error })
}
