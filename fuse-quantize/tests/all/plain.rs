//! `quantize` and `dequantize`: round trips, error bounds, and properties of the schemes.

use fuse_quantize::{Granularity, Packing, QuantScheme, Quantized, Rounding, ScaleDType, Symmetry, quantize};
use proptest::prelude::*;

/// Approximately normal values, as weights are.
fn weights(count: usize, seed: u64) -> Vec<f32> {
    let mix = |i: u64| {
        let z = (seed << 32).wrapping_add(i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    (0..count as u64).map(|i| (0..4).map(|part| mix(4 * i + part)).sum::<f32>() * 0.1).collect()
}

fn squared_error(quantized: &Quantized, values: &[f32]) -> f64 {
    quantized.dequantize().iter().zip(values).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

fn packings() -> impl Strategy<Value = Packing> {
    prop::sample::select(Packing::ALL.to_vec())
}

fn schemes() -> impl Strategy<Value = QuantScheme> {
    let granularities = [Granularity::Tensor, Granularity::Channel, Granularity::Group(32), Granularity::Group(64)];
    let parts = (any::<[bool; 3]>(), prop::sample::select(granularities.to_vec()), prop::option::of(0usize..3));
    parts.prop_map(|([symmetric, narrow, nearest], granularity, axis)| QuantScheme {
        symmetry: if symmetric { Symmetry::Symmetric } else { Symmetry::Asymmetric },
        granularity,
        scales: if narrow { ScaleDType::F16 } else { ScaleDType::F32 },
        rounding: if nearest { Rounding::Nearest } else { Rounding::LeastSquares },
        axis,
    })
}

/// Shapes of three axes whose packed axis fits all schemes.
fn shape_for(scheme: &QuantScheme, odd: usize, other: [usize; 2]) -> [usize; 3] {
    let axis = scheme.axis.unwrap_or(1);
    let extent = if matches!(scheme.granularity, Granularity::Group(_)) { 64 * (1 + odd % 3) } else { odd };
    let mut shape = [other[0], other[1], other[1]];
    shape[axis] = extent;
    shape
}

fn scales(quantized: &Quantized) -> Vec<f32> {
    let (shape, axis) = (&quantized.shape, quantized.axis);
    let inner: usize = shape[axis + 1..].iter().product();
    let count: usize = shape.iter().product();
    let scale = |i: usize| {
        let (outer, k, rest) = (i / inner / shape[axis], i / inner % shape[axis], i % inner);
        let group = k / (shape[axis] / quantized.groups);
        let pair = (outer * quantized.groups + group) * inner + rest;
        match quantized.scale_dtype {
            ScaleDType::F16 => half::f16::from_bits(quantized.scales[pair] as u16).to_f32(),
            ScaleDType::F32 => f32::from_bits(quantized.scales[2 * pair]),
        }
    };
    (0..count).map(scale).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn parts_and_codes_make_the_same_tensor(
        packing in packings(),
        scheme in schemes(),
        odd in 1usize..80,
        other in [1usize..4, 1usize..4],
        seed in any::<u32>(),
    ) {
        let shape = shape_for(&scheme, odd, other);
        let values = weights(shape.iter().product(), seed.into());
        let quantized = quantize(packing, &values, &shape, &scheme).unwrap();
        let Quantized { axis, groups, scale_dtype, ref words, ref scales, .. } = quantized;
        let parts = Quantized::from_parts(packing, &shape, axis, groups, scale_dtype, words.clone(), scales.clone());
        prop_assert_eq!(parts.as_ref(), Ok(&quantized));

        let pair = |i: usize| match scale_dtype {
            ScaleDType::F16 => [scales[i] as u16, (scales[i] >> 16) as u16].map(|x| half::f16::from_bits(x).to_f32()),
            ScaleDType::F32 => [scales[2 * i], scales[2 * i + 1]].map(f32::from_bits),
        };
        let pairs = scales.len() / scale_dtype.pair_words();
        let (of_scale, of_offset): (Vec<f32>, Vec<f32>) = (0..pairs).map(pair).map(|[a, b]| (a, b)).unzip();
        let codes = quantized.codes();
        let again =
            Quantized::from_codes(packing, &shape, axis, groups, scale_dtype, &codes, (&of_scale, &of_offset)).unwrap();
        prop_assert_eq!(again.dequantize(), quantized.dequantize());
        prop_assert_eq!((again.weight_bytes(), again.scale_bytes()), (quantized.weight_bytes(), quantized.scale_bytes()));
        prop_assert_eq!(again, quantized);
    }

    #[test]
    fn unclipped_values_move_by_half_a_scale_at_most(
        packing in packings(),
        scheme in schemes(),
        odd in 1usize..80,
        other in [1usize..4, 1usize..4],
        seed in any::<u32>(),
        shift in prop_oneof![Just(0.0f32), -3.0f32..3.0],
        size in prop_oneof![Just(1.0f32), Just(1e-5), Just(1e3)],
    ) {
        prop_assume!(packing != Packing::Q1);
        let scheme = scheme.rounding(Rounding::Nearest);
        let shape = shape_for(&scheme, odd, other);
        let values: Vec<f32> = weights(shape.iter().product(), seed.into()).iter().map(|x| (x + shift) * size).collect();
        let quantized = quantize(packing, &values, &shape, &scheme).unwrap();
        for ((x, becomes), scale) in values.iter().zip(quantized.dequantize()).zip(scales(&quantized)) {
            // Rounding of x - offset and of q·scale + offset.
            let rounding = 4.0 * f32::EPSILON * (x.abs() + scale * packing.largest() as f32);
            prop_assert!((x - becomes).abs() <= 0.5 * scale + rounding, "{x} becomes {becomes}, scale {scale}");
        }
    }

    #[test]
    fn a_search_is_never_worse(
        packing in packings(),
        scheme in schemes(),
        odd in 1usize..80,
        seed in any::<u32>(),
        shift in prop_oneof![Just(0.0f32), -0.2f32..0.2],
    ) {
        let shape = shape_for(&scheme, odd, [2, 2]);
        let values: Vec<f32> = weights(shape.iter().product(), seed.into()).iter().map(|x| x + shift).collect();
        let [nearest, searched] = [Rounding::Nearest, Rounding::LeastSquares]
            .map(|rounding| quantize(packing, &values, &shape, &scheme.rounding(rounding)).unwrap());
        let [nearest, searched] = [nearest, searched].map(|quantized| squared_error(&quantized, &values));
        prop_assert!(searched <= nearest * (1.0 + 1e-12), "{searched} > {nearest}");
    }

    #[test]
    fn what_was_quantized_stays_as_it_is(packing in packings(), scheme in schemes(), seed in any::<u32>()) {
        // Values that are exact codes, extremes included.
        let scheme = scheme.rounding(Rounding::Nearest).scales(ScaleDType::F32).per_channel().axis(1);
        let largest = packing.largest();
        let symmetric = scheme.symmetry == Symmetry::Symmetric;
        let zero = match (symmetric, packing) {
            (false, _) => 3.0,
            (true, Packing::Q1) => 0.5,
            (true, _) => largest.div_ceil(2) as f32,
        };
        let least = u32::from(symmetric && packing != Packing::Q1);
        let code = |i: usize| if i < 2 { [least, largest][i] } else { least + (seed >> (i % 24)) % (largest - least + 1) };
        let values: Vec<f32> = (0..40).map(|i| code(i) as f32 - zero).collect();
        prop_assume!(packing != Packing::Q1 || symmetric);
        let quantized = quantize(packing, &values, &[1, 40], &scheme).unwrap();
        let close = quantized.dequantize().iter().zip(&values).all(|(a, b)| (a - b).abs() <= 1e-4);
        prop_assert!(close, "{values:?} became {:?}", quantized.dequantize());
    }
}

#[test]
fn symmetric_schemes_mirror() {
    let values = weights(96, 1);
    let mirrored: Vec<f32> = values.iter().map(|x| -x).collect();
    for packing in [Packing::Q8, Packing::Q4, Packing::Q3, Packing::Q2, Packing::Q1] {
        let scheme = QuantScheme::symmetric().axis(0);
        let [a, b] = [&values, &mirrored].map(|values| quantize(packing, values, &[96], &scheme).unwrap());
        assert_eq!(a.scales, b.scales);
        let zero = a.dequantize().iter().zip(b.dequantize()).all(|(a, b)| a + b == 0.0);
        assert!(zero, "{packing:?}: {:?} and {:?}", a.dequantize(), b.dequantize());
    }
}

#[test]
fn one_bit_is_a_sign_times_the_mean() {
    let values = [1.0, -2.0, 3.0, -6.0];
    let quantized = quantize(Packing::Q1, &values, &[4], &QuantScheme::symmetric().per_channel()).unwrap();
    assert_eq!(quantized.dequantize(), [3.0, -3.0, 3.0, -3.0]);
    assert_eq!((&quantized.words[..], quantized.weight_bytes(), quantized.scale_bytes()), (&[0b0101][..], 4, 4));
}

#[test]
fn words_and_scales_lie_where_kernels_read_them() {
    // [K, N] = [64, 3], packed along K: words [8, 3], scales [2, 3].
    let values: Vec<f32> = (0..64 * 3).map(|i| ((i / 3) % 16) as f32 * (1.0 + (i % 3) as f32)).collect();
    let quantized = quantize(Packing::Q4, &values, &[64, 3], &QuantScheme::asymmetric()).unwrap();
    assert_eq!((quantized.axis, quantized.groups, quantized.words.len()), (0, 2, 24));
    assert_eq!(quantized.words[..6], [0x7654_3210, 0x7654_3210, 0x7654_3210, 0xfedc_ba98, 0xfedc_ba98, 0xfedc_ba98]);
    let halves = quantized.scales.iter().map(|&word| half::f16::from_bits(word as u16).to_f32());
    // 15·(1/15) rounds up.
    let expected = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
    assert!(halves.zip(expected).all(|(found, expected)| (found - expected).abs() <= 0.002 * expected));
    let per_tensor = quantize(Packing::Q4, &values, &[64, 3], &QuantScheme::asymmetric().per_tensor()).unwrap();
    assert_eq!(per_tensor.scales.len(), 3);
    assert!(per_tensor.scales.iter().all(|&word| word == per_tensor.scales[0]));
}

#[test]
fn nothing_and_zeros_are_quantized() {
    for packing in Packing::ALL {
        for scheme in [QuantScheme::symmetric(), QuantScheme::asymmetric()] {
            for rounding in [Rounding::Nearest, Rounding::LeastSquares] {
                let scheme = scheme.rounding(rounding);
                for shape in [[0, 5], [64, 0], [0, 0]] {
                    let quantized = quantize(packing, &[], &shape, &scheme).unwrap();
                    assert_eq!((quantized.dequantize(), quantized.words.len()), (vec![], 0), "{shape:?}");
                    assert_eq!(quantized.groups, if shape[0] == 0 { 1 } else { 2 });
                }
                let zeros = quantize(packing, &[0.0; 64], &[64, 1], &scheme).unwrap();
                assert!(zeros.dequantize().iter().all(|&x| x == 0.0));
                assert!(zeros.words.iter().chain(&zeros.scales).all(|&word| word == 0), "{zeros:?}");
            }
        }
    }
}

#[test]
fn a_search_clips_outliers() {
    let mut values = weights(128, 3);
    values[5] = 40.0 * values[6].abs().max(0.01);
    let error = |rounding| {
        let scheme = QuantScheme::symmetric().per_channel().rounding(rounding);
        squared_error(&quantize(Packing::Q3, &values, &[128], &scheme).unwrap(), &values)
    };
    assert!(error(Rounding::LeastSquares) < 0.9 * error(Rounding::Nearest));
}
