//! The scale and offset that span a group's values: what `Rounding::Nearest` asks for, and where a search begins.
//!
//! Input: the values of a group. Output: a [`Pair`], already rounded to its storage. Scales are products with constants;
//! they round up and offsets down, so that the codes reach every value although scales are stored with few bits.
//!
//! Devices compute the same pairs (`QTensor::quantize_tensor` of the runtime): what happens here is a comparison or a single
//! rounding, the order of additions is part of the definition, and what depends on the processor is not used.

use fuse_artifact::Packing;

use crate::{QuantScheme, ScaleDType, Symmetry, pair::Pair};

/// Values that are added up one after another. So are that many of the sums, and so on until one is left. Part of the
/// definition: the order of additions decides about the last bits.
const SUMMED: usize = 32;

/// The pair that spans the values.
pub(crate) fn span(packing: Packing, scheme: &QuantScheme, values: &[f32]) -> Pair {
    let dtype = scheme.scales;
    match (scheme.symmetry, packing) {
        (Symmetry::Symmetric, Packing::Q1) => around(0.0, mean(values, f32::abs), dtype),
        (Symmetry::Symmetric, _) => {
            let most = values.iter().fold(0.0f32, |most, x| most.max(x.abs()));
            symmetric(packing, dtype.up(most * (1.0 / (packing.largest() / 2) as f32)), dtype)
        }
        // The two levels that fit both sides of the mean, not the outermost values.
        (Symmetry::Asymmetric, Packing::Q1) => {
            let middle = mean(values, |x| x);
            around(middle, mean(values, |x| (x - middle).abs()), dtype)
        }
        (Symmetry::Asymmetric, _) => {
            // Which of 0 and -0 is less depends on the processor: plus 0, both are 0.
            let least = values.iter().fold(f32::INFINITY, |least, x| least.min(x + 0.0));
            let most = values.iter().fold(f32::NEG_INFINITY, |most, x| most.max(x + 0.0));
            if values.is_empty() { Pair::default() } else { between(packing, least, most, dtype) }
        }
    }
}

/// The pair of a symmetric scheme with this scale, which its storage holds and which may be negative. The offset is infinite
/// where the storage does not hold it.
pub(crate) fn symmetric(packing: Packing, scale: f32, dtype: ScaleDType) -> Pair {
    let zero = if packing == Packing::Q1 { 0.5 } else { packing.largest().div_ceil(2) as f32 };
    // Exact: a product with a power of two, but for half of the smallest scale, which callers avoid.
    let offset = dtype.nearest(-zero * scale);
    // Not -0.
    if scale == 0.0 { Pair::default() } else { Pair { scale, offset } }
}

/// The pair whose smallest code means at most `least` and whose largest at least `most`.
pub(crate) fn between(packing: Packing, least: f32, most: f32, dtype: ScaleDType) -> Pair {
    let offset = dtype.down(least);
    Pair { scale: dtype.up((most - offset) * (1.0 / packing.largest() as f32)), offset }
}

/// The two levels at `distance` from the middle.
fn around(middle: f32, distance: f32, dtype: ScaleDType) -> Pair {
    // The distance is stored exactly, so that the scale, which is twice as large, is, too.
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
