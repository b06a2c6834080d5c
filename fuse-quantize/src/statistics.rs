//! Scale and offset that span a group's values: `Rounding::Nearest`, and the start of a search.
//!
//! Pairs are rounded to their storage. Scales round up and offsets down, so codes reach every value despite few stored
//! bits.
//!
//! # Invariant
//! Devices compute identical pairs (`QTensor::quantize_tensor` of the runtime). Each step is a comparison or a single
//! rounding, scales are products with constants, the order of additions is fixed, and nothing depends on the CPU.

use fuse_artifact::Packing;

use crate::{QuantScheme, ScaleDType, Symmetry, pair::Pair};

/// Values summed in sequence; this many sums are then summed, until one is left.
///
/// # Invariant
/// The order of additions determines the last bits.
const SUMMED: usize = 32;

pub(crate) fn span(packing: Packing, scheme: &QuantScheme, values: &[f32]) -> Pair {
    let dtype = scheme.scales;
    match (scheme.symmetry, packing) {
        (Symmetry::Symmetric, Packing::Q1) => around(0.0, mean(values, f32::abs), dtype),
        (Symmetry::Symmetric, _) => {
            let most = values.iter().fold(0.0f32, |most, x| most.max(x.abs()));
            symmetric(packing, dtype.up(most * (1.0 / (packing.largest() / 2) as f32)), dtype)
        }
        // Two levels that fit both sides of the mean, not the extremes.
        (Symmetry::Asymmetric, Packing::Q1) => {
            let middle = mean(values, |x| x);
            around(middle, mean(values, |x| (x - middle).abs()), dtype)
        }
        (Symmetry::Asymmetric, _) => {
            // The minimum of 0 and -0 depends on the CPU; adding 0 makes both 0.
            let least = values.iter().fold(f32::INFINITY, |least, x| least.min(x + 0.0));
            let most = values.iter().fold(f32::NEG_INFINITY, |most, x| most.max(x + 0.0));
            if values.is_empty() { Pair::default() } else { between(packing, least, most, dtype) }
        }
    }
}

/// Symmetric pair of a stored scale, which may be negative. The offset is infinite if the storage cannot hold it.
pub(crate) fn symmetric(packing: Packing, scale: f32, dtype: ScaleDType) -> Pair {
    let zero = if packing == Packing::Q1 { 0.5 } else { packing.largest().div_ceil(2) as f32 };
    // Exact: a product with a power of two, except half of the smallest scale, which callers avoid.
    let offset = dtype.nearest(-zero * scale);
    // Avoids -0.
    if scale == 0.0 { Pair::default() } else { Pair { scale, offset } }
}

/// Pair whose codes reach from at most `least` to at least `most`.
pub(crate) fn between(packing: Packing, least: f32, most: f32, dtype: ScaleDType) -> Pair {
    let offset = dtype.down(least);
    Pair { scale: dtype.up((most - offset) * (1.0 / packing.largest() as f32)), offset }
}

fn around(middle: f32, distance: f32, dtype: ScaleDType) -> Pair {
    // Stores the distance exactly, and hence the scale, which is twice as large.
    let distance = dtype.nearest(distance);
    Pair { scale: dtype.nearest(2.0 * distance), offset: dtype.nearest(middle - distance) }
}

fn mean(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    sum(values, &of) * (1.0 / values.len().max(1) as f32)
}

fn sum(values: &[f32], of: &impl Fn(f32) -> f32) -> f32 {
    if values.len() <= SUMMED {
        return values.iter().fold(0.0, |sum, &x| sum + of(x));
    }
    let mut part = SUMMED;
    while part.saturating_mul(SUMMED) < values.len() {
        part *= SUMMED;
    }
    values.chunks(part).fold(0.0, |total, part| total + sum(part, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_scales_divide_by_the_largest_positive_code() {
        let values = [-7.0, 3.0, 0.5];
        let scales =
            Packing::ALL.map(|packing| span(packing, &QuantScheme::symmetric().scales(ScaleDType::F32), &values));
        let seventh = 7.0f32 * (1.0 / 7.0);
        assert_eq!(scales[0], Pair { scale: 7.0 * (1.0 / 127.0), offset: -128.0 * (7.0 * (1.0 / 127.0)) });
        assert_eq!(scales[1], Pair { scale: seventh, offset: -8.0 * seventh });
        assert_eq!(scales[2], Pair { scale: 7.0 * (1.0 / 3.0), offset: -4.0 * (7.0 * (1.0 / 3.0)) });
        assert_eq!(scales[3], Pair { scale: 7.0, offset: -14.0 });
        assert_eq!(scales[4], Pair { scale: 7.0, offset: -3.5 });
    }

    #[test]
    fn asymmetric_pairs_begin_at_the_least_value() {
        let scheme = QuantScheme::asymmetric();
        assert_eq!(span(Packing::Q2, &scheme, &[1.0, 2.5, 4.0]), Pair { scale: 1.0, offset: 1.0 });
        assert_eq!(span(Packing::Q1, &scheme, &[1.0, 1.0, 5.0, 5.0]), Pair { scale: 4.0, offset: 1.0 });
    }

    #[test]
    fn sums_are_sums_of_32_sums() {
        for count in [0, 1, 31, 32, 33, 1024, 1025, 5000, 32_768, 40_000] {
            let values: Vec<f32> = (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 7.0).collect();
            let mut sums = values.clone();
            while sums.len() > 1 {
                sums = sums.chunks(SUMMED).map(|chunk| chunk.iter().fold(0.0, |sum, x| sum + x)).collect();
            }
            assert_eq!(sum(&values, &|x| x), sums.first().copied().unwrap_or(0.0), "{count}");
        }
    }

    #[test]
    fn zeros_of_both_signs_are_zero() {
        let scheme = QuantScheme::asymmetric().scales(ScaleDType::F32);
        for values in [[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0]] {
            let pair = span(Packing::Q4, &scheme, &values);
            assert_eq!([pair.scale, pair.offset].map(f32::to_bits), [0, 0]);
        }
    }

    #[test]
    fn groups_of_one_value_and_none_have_scales() {
        for packing in Packing::ALL {
            for scheme in [QuantScheme::symmetric(), QuantScheme::asymmetric()] {
                assert_eq!(span(packing, &scheme, &[0.0; 3]), Pair::default());
                assert_eq!(span(packing, &scheme, &[]), Pair::default());
                let constant = span(packing, &scheme, &[0.25; 4]);
                let code = constant.code(0.25, packing.largest());
                assert!((constant.value(code) - 0.25).abs() <= 0.25 / 64.0, "{packing:?} {scheme:?}: {constant:?}");
            }
        }
    }
}
