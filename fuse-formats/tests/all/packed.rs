//! Packed matrices against an independent reader, which cuts codes from strings of bits, and round trips of packing.

use fuse_formats::packed::{
    AwqArrays, AwqLayout, BitNetLayout, BitNetScale, Error, GptqArrays, GptqLayout, NBitsArrays, NBitsLayout,
    StoredZero,
};
use half::f16;
use proptest::prelude::*;

use crate::random::Random;

proptest! {
    #[test]
    fn gptq_is_codes_less_zeros_times_scales(
        seed in any::<u64>(), bits in prop::sample::select(vec![2u32, 3, 4, 8]),
        k in 1usize..4, n in 1usize..3, group_size in 1usize..70, minus_one in any::<bool>(), ordered in any::<bool>(),
    ) {
        let (k, n) = (32 * k, 32 * n);
        let stored_zero = if minus_one { StoredZero::MinusOne } else { StoredZero::Plain };
        let layout = GptqLayout { bits, k, n, group_size, stored_zero };
        let groups = layout.groups();
        let words = bits as usize;
        let mut random = Random(seed);
        let qweight: Vec<i32> = random.many(k / 32 * words * n, |word| word as i32);
        let qzeros: Vec<i32> = random.many(groups * (n / 32 * words), |word| word as i32);
        let scales = random.scales(groups * n);
        let g_idx: Vec<i32> = random.many(k, |word| (word % groups as u64) as i32);
        let g_idx = ordered.then_some(&g_idx[..]);
        let mut out = vec![f32::NAN; k * n];
        layout.decode(&GptqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales, g_idx }, &mut out).unwrap();
        let column_codes: Vec<Vec<u32>> = (0..n)
            .map(|column| cut(&qweight.iter().skip(column).step_by(n).copied().collect::<Vec<_>>(), bits))
            .collect();
        let zero_codes: Vec<Vec<u32>> = qzeros.chunks(n / 32 * words).map(|words| cut(words, bits)).collect();
        for row in 0..k {
            let group = g_idx.map_or(row / group_size, |g_idx| g_idx[row] as usize);
            for column in 0..n {
                let stored = zero_codes[group][column];
                let zero = if minus_one { (stored + 1) % (1 << bits) } else { stored };
                let code = column_codes[column][row];
                let expected = f64::from(scales[group * n + column]) * (f64::from(code) - f64::from(zero));
                prop_assert_eq!(f64::from(out[row * n + column]), expected, "{}, {}", row, column);
            }
        }
        let codes: Vec<u8> = (0..k * n).map(|i| column_codes[i % n][i / n] as u8).collect();
        let zeros: Vec<u8> = zero_codes
            .concat()
            .into_iter()
            .map(|stored| if minus_one { ((stored + 1) % (1 << bits)) as u8 } else { stored as u8 })
            .collect();
        let packed = layout.pack(&codes, &zeros).unwrap();
        prop_assert_eq!((packed.qweight, packed.qzeros), (qweight, qzeros));
    }

    #[test]
    fn awq_is_codes_less_zeros_times_scales(
        seed in any::<u64>(), k in 1usize..20, n in 1usize..4, group_size in 1usize..24,
    ) {
        let layout = AwqLayout { k, n: 8 * n, group_size };
        let groups = layout.groups();
        let mut random = Random(seed);
        let qweight: Vec<i32> = random.many(k * n, |word| word as i32);
        let qzeros: Vec<i32> = random.many(groups * n, |word| word as i32);
        let scales = random.scales(groups * 8 * n);
        let mut out = vec![f32::NAN; k * 8 * n];
        layout.decode(&AwqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales }, &mut out).unwrap();
        // Position of each column in its word: the inverse of the storage order.
        let column_of = |words: &[i32], column: usize| {
            let digits = format!("{:08x}", words[column / 8] as u32);
            let place = [0, 4, 1, 5, 2, 6, 3, 7][column % 8];
            digits.chars().rev().nth(place).unwrap().to_digit(16).unwrap()
        };
        let (mut codes, mut zeros) = (vec![], vec![]);
        for row in 0..k {
            let group = row / group_size;
            for column in 0..8 * n {
                let code = column_of(&qweight[row * n..], column);
                let zero = column_of(&qzeros[group * n..], column);
                let expected = f64::from(scales[group * 8 * n + column]) * (f64::from(code) - f64::from(zero));
                prop_assert_eq!(f64::from(out[row * 8 * n + column]), expected);
                codes.push(code as u8);
            }
        }
        for group in 0..groups {
            zeros.extend((0..8 * n).map(|column| column_of(&qzeros[group * n..], column) as u8));
        }
        let packed = layout.pack(&codes, &zeros).unwrap();
        prop_assert_eq!((packed.qweight, packed.qzeros), (qweight, qzeros));
    }

    #[test]
    fn n_bits_is_codes_less_zeros_times_scales(
        seed in any::<u64>(), bits in prop::sample::select(vec![2u32, 4, 8]),
        n in 1usize..5, k in 1usize..100, block_size in prop::sample::select(vec![16usize, 32, 64]),
        with_zeros in any::<bool>(),
    ) {
        let layout = NBitsLayout { bits, n, k, block_size };
        let blocks = layout.blocks();
        let mut random = Random(seed);
        let codes: Vec<u8> = random.many(n * k, |word| (word % (1 << bits)) as u8);
        let zeros: Vec<u8> = random.many(n * blocks, |word| (word % (1 << bits)) as u8);
        let scales: Vec<f32> = random.many(n * blocks, |word| (word as f32 / u32::MAX as f32) - 0.3);
        let packed = layout.pack(&codes, &zeros).unwrap();
        // Codes of each row, cut from the string of its bits.
        let rows = |bytes: &[u8], row_bytes: usize| -> Vec<Vec<u8>> {
            bytes.chunks(row_bytes).map(|row| cut_bytes(row, bits)).collect()
        };
        let stored = rows(&packed.b, blocks * block_size * bits as usize / 8);
        let stored_zeros = rows(&packed.zero_points, (blocks * bits as usize).div_ceil(8));
        prop_assert_eq!((stored.len(), stored_zeros.len()), (n, n));
        let zero_points = with_zeros.then_some(&packed.zero_points[..]);
        let mut out = vec![f32::NAN; n * k];
        layout.decode(&NBitsArrays { b: &packed.b, scales: &scales, zero_points }, &mut out).unwrap();
        for row in 0..n {
            for column in 0..k {
                let block = column / block_size;
                prop_assert_eq!(stored[row][column], codes[row * k + column]);
                prop_assert_eq!(stored_zeros[row][block], zeros[row * blocks + block]);
                let at = row * blocks + block;
                let zero = if with_zeros { f32::from(zeros[at]) } else { f32::powi(2.0, bits as i32 - 1) };
                let expected = (f32::from(codes[row * k + column]) - zero) * scales[at];
                prop_assert_eq!(out[row * k + column].to_bits(), expected.to_bits());
            }
        }
    }

    #[test]
    fn bitnet_comes_back(seed in any::<u64>(), out_features in 1usize..20, in_features in 1usize..9) {
        let layout = BitNetLayout { out_features, in_features };
        let weights: Vec<i8> = Random(seed).many(out_features * in_features, |word| (word % 3) as i8 - 1);
        let packed = layout.pack(&weights).unwrap();
        let mut out = vec![f32::NAN; weights.len()];
        layout.decode(&packed, BitNetScale::Multiply(0.3), &mut out).unwrap();
        for (value, &weight) in out.iter().zip(&weights) {
            prop_assert_eq!(*value, f32::from(weight) * 0.3);
        }
        layout.decode(&packed, BitNetScale::Divide(0.3), &mut out).unwrap();
        for (value, &weight) in out.iter().zip(&weights) {
            prop_assert_eq!(*value, f32::from(weight) / 0.3);
        }
    }
}

#[test]
fn words_are_those_that_the_formats_describe() {
    // GPTQ: row 0 lowest, zero points one less.
    let layout = GptqLayout { bits: 4, k: 8, n: 8, group_size: 8, stored_zero: StoredZero::MinusOne };
    let codes: Vec<u8> = (0..64).map(|i| (i / 8) as u8 + 1).collect();
    let packed = layout.pack(&codes, &[8; 8]).unwrap();
    assert_eq!((packed.qweight, packed.qzeros), (vec![0x8765_4321u32 as i32; 8], vec![0x7777_7777]));
    // AWQ: columns 0, 2, 4, 6, 1, 3, 5, 7 from the lowest bits on.
    let layout = AwqLayout { k: 1, n: 8, group_size: 1 };
    let packed = layout.pack(&[0, 1, 2, 3, 4, 5, 6, 7], &[8; 8]).unwrap();
    assert_eq!((packed.qweight, packed.qzeros), (vec![0x7531_6420], vec![0x8888_8888u32 as i32]));
    // GPTQ, 3 bits: the codes 10 and 21 cross words.
    let layout = GptqLayout { bits: 3, k: 32, n: 32, group_size: 32, stored_zero: StoredZero::Plain };
    let column = |row: usize| if row == 10 || row == 21 { 7 } else { 0 };
    let codes: Vec<u8> = (0..32 * 32).map(|i| column(i / 32)).collect();
    let packed = layout.pack(&codes, &[0; 32]).unwrap();
    assert_eq!(
        [packed.qweight[0], packed.qweight[32], packed.qweight[64]].map(|word| word as u32),
        [0xc000_0000, 0x8000_0001, 0x0000_0003]
    );
    // BitNet: byte row r has rows r, r + R, r + 2R, r + 3R.
    let layout = BitNetLayout { out_features: 8, in_features: 1 };
    let packed = layout.pack(&[0, -1, -1, 1, 1, 0, 1, -1]).unwrap();
    assert_eq!(packed, [0b10_10_00_01, 0b00_01_10_00]);
}

#[test]
fn faults_name_the_argument() {
    let layout = GptqLayout { bits: 4, k: 16, n: 8, group_size: 8, stored_zero: StoredZero::MinusOne };
    let (qweight, qzeros, scales, mut out) = ([0; 16], [0; 2], [f16::ONE; 16], [0.0; 128]);
    let arrays = GptqArrays { qweight: &qweight, qzeros: &qzeros, scales: &scales, g_idx: None };
    layout.decode(&arrays, &mut out).unwrap();
    let message = |layout: GptqLayout, arrays: GptqArrays<'_>, out: &mut [f32]| {
        layout.decode(&arrays, out).unwrap_err().to_string()
    };
    let text = message(layout, GptqArrays { qweight: &[0; 15], ..arrays }, &mut out);
    assert_eq!(text, "qweight: expected 16 elements, found 15");
    let text = message(layout, GptqArrays { qzeros: &[0; 3], ..arrays }, &mut out);
    assert_eq!(text, "qzeros: expected 2 elements, found 3");
    let text = message(layout, GptqArrays { scales: &[f16::ONE; 8], ..arrays }, &mut out);
    assert_eq!(text, "scales: expected 16 elements, found 8");
    assert_eq!(message(layout, arrays, &mut []), "out: expected 128 elements, found 0");
    for wrong in [2, -1] {
        let mut g_idx = [0; 16];
        g_idx[5] = wrong;
        let text = message(layout, GptqArrays { g_idx: Some(&g_idx), ..arrays }, &mut out);
        assert_eq!(text, format!("g_idx[5]: expected 0 to 1, found {wrong}"));
    }
    let text = message(GptqLayout { bits: 5, ..layout }, arrays, &mut out);
    assert_eq!(text, "bits: expected 2, 3, 4 or 8, found 5");
    let text = message(GptqLayout { k: 12, ..layout }, arrays, &mut out);
    assert_eq!(text, "k: expected a multiple of 8 above 0, found 12");
    let text = message(GptqLayout { group_size: 0, ..layout }, arrays, &mut out);
    assert_eq!(text, "group_size: expected at least 1, found 0");
    let huge = 1 << (usize::BITS - 2);
    let error = GptqLayout { k: huge, n: huge, ..layout }.decode(&arrays, &mut out);
    assert_eq!(error, Err(Error::Overflow { argument: "qweight" }));
    let mut codes = [0; 128];
    codes[3] = 16;
    assert_eq!(layout.pack(&codes, &[0; 16]).unwrap_err().to_string(), "codes[3]: expected 0 to 15, found 16");
}

#[test]
fn faults_of_the_other_formats_name_the_argument() {
    let awq = AwqLayout { k: 2, n: 8, group_size: 2 };
    let arrays = AwqArrays { qweight: &[0; 2], qzeros: &[0; 2], scales: &[f16::ONE; 8] };
    assert_eq!(awq.decode(&arrays, &mut [0.0; 16]).unwrap_err().to_string(), "qzeros: expected 1 elements, found 2");
    let error = AwqLayout { n: 12, ..awq }.decode(&arrays, &mut []).unwrap_err();
    assert_eq!(error.to_string(), "n: expected a multiple of 8 above 0, found 12");
    let layout = NBitsLayout { bits: 4, n: 1, k: 20, block_size: 16 };
    let arrays = NBitsArrays { b: &[0; 16], scales: &[1.0; 2], zero_points: Some(&[0; 2]) };
    let error = layout.decode(&arrays, &mut [0.0; 20]).unwrap_err();
    assert_eq!(error.to_string(), "zero_points: expected 1 elements, found 2");
    let error = NBitsLayout { block_size: 24, ..layout }.decode(&arrays, &mut [0.0; 20]).unwrap_err();
    assert_eq!(error.to_string(), "block_size: expected a power of two, at least 16, found 24");
    let error = NBitsLayout { k: usize::MAX, block_size: 1 << 20, ..layout }.decode(&arrays, &mut []).unwrap_err();
    assert!(matches!(error, Error::Overflow { .. } | Error::Length { .. }), "{error}");
    let block_size = 1 << (usize::BITS - 2);
    let error = NBitsLayout { bits: 8, n: 1, k: 1, block_size }.pack(&[0], &[0]).unwrap_err();
    assert_eq!(error, Error::Overflow { argument: "b" });
    let bitnet = BitNetLayout { out_features: 4, in_features: 2 };
    let error = bitnet.decode(&[0, 0b1100], BitNetScale::Multiply(1.0), &mut [0.0; 8]).unwrap_err();
    assert_eq!(error.to_string(), "packed[1]: expected -1 to 1, found 2");
    assert_eq!(bitnet.pack(&[2; 8]).unwrap_err().to_string(), "weights[0]: expected -1 to 1, found 2");
    let error = BitNetLayout { out_features: 0, in_features: usize::MAX }.pack(&[]).unwrap_err();
    assert_eq!(error.to_string(), "out_features: expected at least 1, found 0");
}

/// Cuts the bits of words, as a string with the lowest first, into codes.
fn cut(words: &[i32], bits: u32) -> Vec<u32> {
    let text: String = words.iter().map(|word| format!("{word:032b}").chars().rev().collect::<String>()).collect();
    let code = |digits: &[u8]| {
        let digits: String = digits.iter().rev().map(|&digit| char::from(digit)).collect();
        u32::from_str_radix(&digits, 2).unwrap()
    };
    text.as_bytes().chunks_exact(bits as usize).map(code).collect()
}

fn cut_bytes(bytes: &[u8], bits: u32) -> Vec<u8> {
    let text: String = bytes.iter().map(|byte| format!("{byte:08b}").chars().rev().collect::<String>()).collect();
    let code = |digits: &[u8]| digits.iter().rev().fold(0, |code, digit| 2 * code + (digit - b'0'));
    text.as_bytes().chunks_exact(bits as usize).map(code).collect()
}
