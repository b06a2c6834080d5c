//! Imported weights against the formats' own decoders, and round trips through packers.
//!
//! Values agree in every bit, except for the sign of zeros.

use std::{fs, path::Path};

use fuse_formats::{
    blocks::{self, BlockType},
    gguf::Gguf,
    import::{self, Error},
    packed::{
        AwqArrays, AwqLayout, BitNetLayout, BitNetScale, GptqArrays, GptqLayout, NBitsArrays, NBitsLayout, StoredZero,
    },
};
use fuse_quantize::{Packing, QuantScheme, Quantized, ScaleDType, quantize};
use half::f16;
use proptest::prelude::*;

use crate::random::Random;

/// Types with resulting packing, values per group, and offsets of `f16` scales in a block.
const TYPES: [(BlockType, Packing, usize, &[usize]); 12] = [
    (BlockType::Q4_0, Packing::Q4, 32, &[0]),
    (BlockType::Q4_1, Packing::Q4, 32, &[0, 2]),
    (BlockType::Q5_0, Packing::Q8, 32, &[0]),
    (BlockType::Q5_1, Packing::Q8, 32, &[0, 2]),
    (BlockType::Q8_0, Packing::Q8, 32, &[0]),
    (BlockType::Q2K, Packing::Q2, 32, &[80, 82]),
    (BlockType::Q3K, Packing::Q3, 32, &[108]),
    (BlockType::Q4K, Packing::Q4, 32, &[0, 2]),
    (BlockType::Q5K, Packing::Q8, 32, &[0, 2]),
    (BlockType::Q6K, Packing::Q8, 32, &[208]),
    (BlockType::Tq1_0, Packing::Q2, 256, &[52]),
    (BlockType::Tq2_0, Packing::Q2, 256, &[64]),
];

proptest! {
    #[test]
    fn blocks_become_the_numbers_that_their_decoder_gives(seed in any::<u64>(), rows in 1usize..4, wide in 1usize..3) {
        for (ty, packing, group, halves) in TYPES {
            let shape = [rows, 256 * wide];
            let bytes = random_blocks(ty, halves, shape.iter().product(), seed, true);
            let quantized = import::blocks(ty, &shape, &bytes).unwrap();
            prop_assert_eq!((quantized.packing, quantized.axis), (packing, 1), "{}", ty);
            prop_assert_eq!((&quantized.shape[..], quantized.groups), (&shape[..], shape[1] / group), "{}", ty);
            let mut expected = vec![f32::NAN; rows * shape[1]];
            blocks::decode(ty, &bytes, &mut expected).unwrap();
            same(&quantized, &expected)?;
        }
    }

    #[test]
    fn any_blocks_of_any_shape_are_a_tensor_or_an_error(
        bytes in prop::collection::vec(any::<u8>(), 0..600), shape in prop::collection::vec(0usize..600, 0..4),
    ) {
        for ty in BlockType::all() {
            let whole = bytes.len() / ty.block_bytes();
            for shape in [&shape[..], &[whole * ty.block_len()], &[whole, ty.block_len()], &[usize::MAX, 1 << 40]] {
                let _ = import::blocks(ty, shape, &bytes[..whole * ty.block_bytes()]);
            }
        }
    }

    #[test]
    fn gptq_keeps_its_numbers(
        seed in any::<u64>(), bits in prop::sample::select(vec![2u32, 3, 4, 8]), k in 1usize..6, n in 1usize..3,
        group in prop::sample::select(vec![32usize, 64, 96, 1000]), minus_one in any::<bool>(), ordered in any::<bool>(),
    ) {
        let stored_zero = if minus_one { StoredZero::MinusOne } else { StoredZero::Plain };
        let (k, n) = (32 * k, 32 * n);
        let layout = GptqLayout { bits, k, n, group_size: group, stored_zero };
        let mut random = Random(seed);
        let qweight: Vec<i32> = random.many(k / 32 * bits as usize * n, |word| word as i32);
        let qzeros: Vec<i32> = random.many(layout.groups() * (n / 32 * bits as usize), |word| word as i32);
        let scales = random.scales(layout.groups() * n);
        let g_idx: Vec<i32> = (0..k).map(|row| (row / group) as i32).collect();
        let g_idx = ordered.then_some(&g_idx[..]);
        let arrays = GptqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales, g_idx };
        let mut expected = vec![f32::NAN; k * n];
        layout.decode(&arrays, &mut expected).unwrap();
        let quantized = import::gptq(&layout, &arrays).unwrap();
        prop_assert_eq!((quantized.packing.bits(), &quantized.shape[..], quantized.axis), (bits, &[k, n][..], 0));
        same(&quantized, &expected)?;
    }

    #[test]
    fn awq_keeps_its_numbers(
        seed in any::<u64>(), k in 1usize..6, n in 1usize..5, group in prop::sample::select(vec![32usize, 64, 1000]),
    ) {
        let layout = AwqLayout { k: 32 * k, n: 8 * n, group_size: group };
        let mut random = Random(seed);
        let qweight: Vec<i32> = random.many(32 * k * n, |word| word as i32);
        let qzeros: Vec<i32> = random.many(layout.groups() * n, |word| word as i32);
        let scales = random.scales(layout.groups() * 8 * n);
        let arrays = AwqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales };
        let mut expected = vec![f32::NAN; layout.k * layout.n];
        layout.decode(&arrays, &mut expected).unwrap();
        let quantized = import::awq(&layout, &arrays).unwrap();
        prop_assert_eq!((quantized.packing, &quantized.shape[..]), (Packing::Q4, &[layout.k, layout.n][..]));
        same(&quantized, &expected)?;
    }

    #[test]
    fn n_bits_keeps_its_numbers_or_is_within_its_bound(
        seed in any::<u64>(), bits in prop::sample::select(vec![2u32, 4, 8]), n in 1usize..5, k in 1usize..6,
        block_size in prop::sample::select(vec![32usize, 64, 256]), with_zeros in any::<bool>(),
    ) {
        let layout = NBitsLayout { bits, n, k: 32 * k, block_size };
        let blocks = layout.blocks();
        let mut random = Random(seed);
        let b: Vec<u8> = random.many(n * blocks * block_size * bits as usize / 8, |word| word as u8);
        let zeros: Vec<u8> = random.many(n * (blocks * bits as usize).div_ceil(8), |word| word as u8);
        let zero_points = with_zeros.then_some(&zeros[..]);
        let numbers: Vec<f32> = random.many(n * blocks, |word| word as f32 / u32::MAX as f32 - 0.3);
        let short: Vec<f32> = numbers.iter().map(|x| f32::from_bits(x.to_bits() & !0xff)).collect();
        let mut expected = vec![f32::NAN; n * layout.k];
        let arrays = NBitsArrays { b: &b, scales: &short, zero_points };
        layout.decode(&arrays, &mut expected).unwrap();
        let quantized = import::n_bits(&layout, &arrays).unwrap();
        prop_assert_eq!((quantized.packing.bits(), &quantized.shape[..]), (bits, &[n, layout.k][..]));
        same(&quantized, &expected)?;
        let arrays = NBitsArrays { scales: &numbers, ..arrays };
        layout.decode(&arrays, &mut expected).unwrap();
        let values = import::n_bits(&layout, &arrays).unwrap().dequantize();
        for (place, (value, expected)) in values.iter().zip(&expected).enumerate() {
            let scale = numbers[place / layout.k * blocks + place % layout.k / block_size];
            let most = 3.0 * f64::powi(2.0, bits as i32 - 24) * f64::from(scale.abs());
            let error = (f64::from(*value) - f64::from(*expected)).abs();
            prop_assert!(error <= most, "{place}: {value} for {expected}, scale {scale}");
        }
    }

    #[test]
    fn bitnet_keeps_its_numbers(
        seed in any::<u64>(), out_features in 1usize..20, in_features in 1usize..70, scale in 1e-30f32..1e30,
        divided in any::<bool>(),
    ) {
        let layout = BitNetLayout { out_features, in_features };
        let weights: Vec<i8> = Random(seed).many(out_features * in_features, |word| (word % 3) as i8 - 1);
        let packed = layout.pack(&weights).unwrap();
        let scale = if divided { BitNetScale::Divide(scale) } else { BitNetScale::Multiply(scale) };
        let mut expected = vec![f32::NAN; weights.len()];
        layout.decode(&packed, scale, &mut expected).unwrap();
        let quantized = import::bitnet(&layout, &packed, scale).unwrap();
        prop_assert_eq!((quantized.packing, quantized.axis, quantized.groups), (Packing::Q2, 1, 1));
        same(&quantized, &expected)?;
        let codes: Vec<u8> = weights.iter().map(|weight| (weight + 1) as u8).collect();
        prop_assert_eq!(quantized.codes(), codes);
    }

    #[test]
    fn symmetric_tensors_come_back_from_packed_arrays(
        values in prop::collection::vec(-1.0f32..1.0, 96 * 32),
        packing in prop::sample::select(vec![Packing::Q8, Packing::Q4, Packing::Q3, Packing::Q2]), wide in any::<bool>(),
    ) {
        let (k, n, group, bits) = (96, 32, 32, packing.bits());
        let zero = 1u8 << (bits - 1);
        let dtype = if wide { ScaleDType::F32 } else { ScaleDType::F16 };
        // Columns `[K, N]`.
        let scheme = QuantScheme::symmetric().axis(0).scales(ScaleDType::F16);
        let quantized = quantize(packing, &values, &[k, n], &scheme).unwrap();
        let scales: Vec<f16> = quantized.scales.iter().map(|pair| f16::from_bits(*pair as u16)).collect();
        let (codes, zeros) = (quantized.codes(), vec![zero; scales.len()]);
        for stored_zero in [StoredZero::MinusOne, StoredZero::Plain] {
            let layout = GptqLayout { bits, k, n, group_size: group, stored_zero };
            let words = layout.pack(&codes, &zeros).unwrap();
            let arrays = GptqArrays { qweight: &words.qweight, qzeros: &words.qzeros, scales: &scales, g_idx: None };
            prop_assert_eq!(&import::gptq(&layout, &arrays).unwrap(), &quantized);
        }
        if packing == Packing::Q4 {
            let layout = AwqLayout { k, n, group_size: group };
            let words = layout.pack(&codes, &zeros).unwrap();
            let arrays = AwqArrays { qweight: &words.qweight, qzeros: &words.qzeros, scales: &scales };
            prop_assert_eq!(&import::awq(&layout, &arrays).unwrap(), &quantized);
        }
        // Rows `[N, K]`, with scales of any width.
        if packing == Packing::Q3 {
            return Ok(());
        }
        let scheme = QuantScheme::symmetric().axis(1).scales(dtype);
        let quantized = quantize(packing, &values, &[n, k], &scheme).unwrap();
        let scales: Vec<f32> = match dtype {
            ScaleDType::F16 => quantized.scales.iter().map(|pair| f16::from_bits(*pair as u16).to_f32()).collect(),
            ScaleDType::F32 => quantized.scales.iter().step_by(2).map(|&scale| f32::from_bits(scale)).collect(),
        };
        let layout = NBitsLayout { bits, n, k, block_size: group };
        let bytes = layout.pack(&quantized.codes(), &vec![zero; scales.len()]).unwrap();
        for zero_points in [None, Some(&bytes.zero_points[..])] {
            let arrays = NBitsArrays { b: &bytes.b, scales: &scales, zero_points };
            prop_assert_eq!(&import::n_bits(&layout, &arrays).unwrap(), &quantized);
        }
    }

    #[test]
    fn tensors_on_a_format_s_grid_come_back_from_its_encoder(seed in any::<u64>(), exponent in -9i32..3) {
        // Types with smallest and largest code, and the zero point of those without minima.
        let types = [
            (BlockType::Q4_0, Packing::Q4, 0u8, 15u8, Some(8.0)),
            (BlockType::Q4_1, Packing::Q4, 0, 15, None),
            (BlockType::Q5_0, Packing::Q8, 0, 31, Some(16.0)),
            (BlockType::Q5_1, Packing::Q8, 0, 31, None),
            (BlockType::Q8_0, Packing::Q8, 1, 255, Some(128.0)),
        ];
        let mut random = Random(seed);
        for (ty, packing, least, most, zero) in types {
            let mut codes: Vec<u8> =
                random.many(3 * 64, |word| least + (word % u64::from(most - least + 1)) as u8);
            // Encoders derive the scale from these.
            codes.chunks_mut(32).for_each(|group| group[..2].copy_from_slice(&[least, most]));
            let scales: Vec<f32> = random.many(6, |word| f32::powi(2.0, exponent - (word % 3) as i32));
            let minima: Vec<f32> = random.many(6, |word| (word % 9) as f32 - 20.0);
            let offsets: Vec<f32> =
                scales.iter().zip(minima).map(|(scale, min)| scale * zero.map_or(min, |zero: f32| -zero)).collect();
            let pairs = (&scales[..], &offsets[..]);
            let quantized = Quantized::from_codes(packing, &[3, 64], 1, 2, ScaleDType::F16, &codes, pairs).unwrap();
            let mut bytes = vec![0; 6 * ty.block_bytes()];
            blocks::encode(ty, &quantized.dequantize(), &mut bytes).unwrap();
            prop_assert_eq!(import::blocks(ty, &[3, 64], &bytes).unwrap(), quantized, "{}", ty);
        }
    }
}

#[test]
fn types_with_minima_keep_the_sign_of_zeros_too() {
    for (ty, _, _, halves) in TYPES.into_iter().filter(|ty| ty.3.len() == 2) {
        let bytes = random_blocks(ty, halves, 256 * 40, 7, true);
        let mut expected = vec![0.0; 256 * 40];
        blocks::decode(ty, &bytes, &mut expected).unwrap();
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let values = import::blocks(ty, &[40, 256], &bytes).unwrap().dequantize();
        assert_eq!(bits(&values), bits(&expected), "{ty}");
    }
}

#[test]
fn scales_are_halves_where_these_hold_them() {
    let block = |d: f32| [&f16::from_f32(d).to_le_bytes()[..], &[0x80; 32]].concat();
    let dtype = |d: f32| import::blocks(BlockType::Q8_0, &[1, 32], &block(d)).unwrap().scale_dtype;
    // 128 · 511 is below the largest `f16`, 128 · 512 is not.
    assert_eq!([dtype(511.0), dtype(512.0), dtype(2e-7)], [ScaleDType::F16, ScaleDType::F32, ScaleDType::F16]);
    let ones = [&f16::ONE.to_le_bytes()[..], &[0x3c; 142]].concat();
    assert_eq!(import::blocks(BlockType::Q4K, &[256], &ones).unwrap().axis, 0);
}

#[test]
fn a_file_s_tensors_are_imported_or_named() {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.gguf")).unwrap();
    let file = Gguf::parse(&bytes).unwrap();
    let mut imported = 0;
    for tensor in file.tensors() {
        match import::tensor(tensor) {
            Ok(quantized) => {
                assert_eq!((&quantized.shape[..], quantized.axis), (tensor.shape(), tensor.shape().len() - 1));
                assert_eq!(quantized.dequantize(), tensor.to_f32().unwrap());
                imported += 1;
            }
            Err(error) => {
                let name = format!("tensor `{}` of {}: expected", tensor.name(), tensor.block_type());
                assert!(error.to_string().starts_with(&name), "{error}");
            }
        }
    }
    assert!(imported > 0);
}

#[test]
fn runs_of_16_are_refused_unless_they_are_equal() {
    for (ty, _, _, halves) in
        TYPES.into_iter().filter(|ty| matches!(ty.0, BlockType::Q2K | BlockType::Q3K | BlockType::Q6K))
    {
        let bytes = random_blocks(ty, halves, 512, 3, false);
        let error = import::blocks(ty, &[2, 256], &bytes).unwrap_err();
        let text = format!(
            "blocks of {ty}: expected a scale for each multiple of 32 values that divides axis 1 of 256, or for all, found \
             one for each 16 and different ones from value [0, 0] on; decode to f32 and quantize again \
             (`fuse_quantize::quantize`)"
        );
        assert_eq!(error.to_string(), text);
    }
    let layout = NBitsLayout { bits: 4, n: 2, k: 64, block_size: 16 };
    let scales = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 5.0];
    let arrays = NBitsArrays { b: &[0x9a; 64], scales: &scales, zero_points: None };
    let error = import::n_bits(&layout, &arrays).unwrap_err();
    assert!(matches!(&error, Error::Runs { index: Some(index), found: 16, .. } if index == &[1, 32]), "{error}");
    let equal = NBitsArrays { scales: &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0], ..arrays };
    assert_eq!(import::n_bits(&layout, &equal).unwrap().groups, 2);
    // One block of 16 forms a single group.
    let arrays = NBitsArrays { b: &[0x9a; 8], scales: &[1.0], zero_points: None };
    assert_eq!(import::n_bits(&NBitsLayout { n: 1, k: 16, ..layout }, &arrays).unwrap().groups, 1);
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let run = |k: usize, group_size: usize| {
        let layout = GptqLayout { bits: 4, k, n: 8, group_size, stored_zero: StoredZero::Plain };
        let (qweight, groups) = (vec![0; k], layout.groups());
        let (qzeros, scales) = (vec![0; groups], vec![f16::ONE; groups * 8]);
        import::gptq(&layout, &GptqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales, g_idx: None })
    };
    let text = "GPTQ matrix: expected a scale for each multiple of 32 values that divides axis 0 of 96, or for all, found one \
                for each 24; decode to f32 and quantize again (`fuse_quantize::quantize`)";
    assert_eq!(run(96, 24).unwrap_err().to_string(), text);
    for (k, group) in [(96, 48), (200, 128), (40, 32)] {
        assert!(matches!(run(k, group), Err(Error::Runs { index: None, .. })), "{k}, {group}");
    }
    // Groups spanning all of K; a shorter last group; equal runs of 8.
    for (k, group, groups) in [(40, 40, 1), (40, 64, 1), (160, 64, 5), (96, 8, 3), (96, 1, 3), (128, 64, 2)] {
        assert_eq!(run(k, group).unwrap().groups, groups, "{k}, {group}");
    }
}

#[test]
fn rows_in_the_order_of_activations_are_refused() {
    let layout = GptqLayout { bits: 4, k: 64, n: 8, group_size: 32, stored_zero: StoredZero::Plain };
    let mut g_idx: Vec<i32> = (0..64).map(|row| row / 32).collect();
    g_idx.swap(3, 40);
    let arrays = GptqArrays { qweight: &[0; 64], qzeros: &[0; 2], scales: &[f16::ONE; 16], g_idx: Some(&g_idx) };
    let error = import::gptq(&layout, &arrays).unwrap_err();
    let text = "GPTQ matrix: expected rows in the order of their groups, found g_idx[3] = 1 instead of 0, as quantization by \
                activation order (act-order, `desc_act`) makes it; sort the rows of `qweight` by group and the layer's inputs \
                alike, or decode to f32 and quantize again (`fuse_quantize::quantize`)";
    assert_eq!(error.to_string(), text);
}

#[test]
fn faults_name_the_tensor_or_the_format() {
    let message = |ty, shape: &[usize], bytes: &[u8]| import::blocks(ty, shape, bytes).unwrap_err().to_string();
    assert_eq!(
        message(BlockType::F16, &[1, 2], &[0; 4]),
        "blocks of F16: expected blocks of Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, TQ1_0 or TQ2_0 (or Q2_K, Q3_K or Q6_K \
         with scales that are equal in pairs)"
    );
    assert!(matches!(import::blocks(BlockType::Mxfp4, &[32], &[0; 17]), Err(Error::Type { .. })));
    let (empty, q4) = ("blocks of Q4_0: expected an axis and a value at least, found shape", BlockType::Q4_0);
    assert_eq!(message(q4, &[], &[]), format!("{empty} []"));
    assert_eq!(message(q4, &[0, 32], &[]), format!("{empty} [0, 32]"));
    assert_eq!(message(q4, &[1 << 40, 0], &[]), format!("{empty} [{}, 0]", 1u64 << 40));
    assert_eq!(message(q4, &[2, 48], &[0; 54]), "blocks of Q4_0: expected rows of a multiple of 32 values, found 48");
    assert_eq!(message(q4, &[2, 32], &[0; 18]), "blocks of Q4_0: expected the bytes of shape [2, 32], 36, found 18");
    let most = usize::MAX;
    assert_eq!(
        message(q4, &[most, 32], &[0; 18]),
        format!("blocks of Q4_0: expected the bytes of shape [{most}, 32], more than can be counted, found 18")
    );
    let infinite = [&f16::INFINITY.to_le_bytes()[..], &[0x77; 16]].concat();
    assert_eq!(message(q4, &[1, 32], &infinite), "blocks of Q4_0: scales[0, 0]: expected a finite number, found inf");
    let layout = AwqLayout { k: 32, n: 8, group_size: 32 };
    let error =
        import::awq(&layout, &AwqArrays { qweight: &[0; 32], qzeros: &[], scales: &[f16::ONE; 8] }).unwrap_err();
    assert_eq!(error.to_string(), "AWQ matrix: qzeros: expected 1 elements, found 0");
    let layout = BitNetLayout { out_features: 4, in_features: 2 };
    let error = import::bitnet(&layout, &[0, 0b1100], BitNetScale::Multiply(1.0)).unwrap_err();
    assert_eq!(error.to_string(), "BitNet matrix: packed[1]: expected -1 to 1, found 2");
    let error = import::bitnet(&layout, &[0; 2], BitNetScale::Multiply(2e38)).unwrap_err();
    let text = "BitNet matrix: expected a scale whose product with code 3 is finite, found \
                200000000000000000000000000000000000000 at group [0, 0]";
    assert_eq!(error.to_string(), text);
    let error = import::bitnet(&layout, &[0; 2], BitNetScale::Divide(0.0)).unwrap_err();
    assert_eq!(error.to_string(), "BitNet matrix: scales[0, 0]: expected a finite number, found inf");
}

fn same(quantized: &Quantized, expected: &[f32]) -> Result<(), TestCaseError> {
    let values = quantized.dequantize();
    prop_assert_eq!(values.len(), expected.len());
    for (place, (value, expected)) in values.iter().zip(expected).enumerate() {
        let same = value.to_bits() == expected.to_bits() || (*value == 0.0 && *expected == 0.0);
        prop_assert!(same, "{}: {} for {}", place, value, expected);
    }
    Ok(())
}

/// With `paired`, scales of runs of 16 are equal in pairs.
fn random_blocks(ty: BlockType, halves: &[usize], values: usize, seed: u64, paired: bool) -> Vec<u8> {
    let size = ty.block_bytes();
    let mut bytes: Vec<u8> = Random(seed).many(values / ty.block_len() * size, |word| word as u8);
    // Scale bytes (or parts of several) are at even positions for even runs, at odd ones for odd runs.
    let scales = match ty {
        BlockType::Q2K => 0..16,
        BlockType::Q3K => 96..108,
        BlockType::Q6K => 192..208,
        _ => 0..0,
    };
    for block in bytes.chunks_exact_mut(size) {
        halves.iter().for_each(|at| block[at + 1] &= 0xbf);
        if paired {
            block[scales.clone()].chunks_exact_mut(2).for_each(|pair| pair[1] = pair[0]);
        }
    }
    bytes
}
