//! ggml's blocks compared bit for bit with llama.cpp's Python package, using fixtures of `data/make.py`.

use std::{collections::BTreeMap, fs, path::Path};

use fuse_formats::blocks::{BlockType, Error, decode, encode};
use proptest::prelude::*;

/// Decodable types with `f16` scales, and the scales' offsets in a block.
const HALVES: [(BlockType, &[usize]); 14] = [
    (BlockType::F16, &[0]),
    (BlockType::Bf16, &[0]),
    (BlockType::Q4_0, &[0]),
    (BlockType::Q4_1, &[0, 2]),
    (BlockType::Q5_0, &[0]),
    (BlockType::Q5_1, &[0, 2]),
    (BlockType::Q8_0, &[0]),
    (BlockType::Q2K, &[80, 82]),
    (BlockType::Q3K, &[108]),
    (BlockType::Q4K, &[0, 2]),
    (BlockType::Q5K, &[0, 2]),
    (BlockType::Q6K, &[208]),
    (BlockType::Tq1_0, &[52]),
    (BlockType::Tq2_0, &[64]),
];

const ENCODED: [BlockType; 5] = [BlockType::Q4_0, BlockType::Q4_1, BlockType::Q5_0, BlockType::Q5_1, BlockType::Q8_0];

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

#[test]
fn every_bit_of_decoded_fixtures_is_that_of_the_package() {
    for (ty, _) in HALVES {
        let data = fixture(&format!("decode_{}.bin", ty.name().to_lowercase()));
        let count = data.len() / (ty.block_bytes() + 4 * ty.block_len());
        let (bytes, expected) = data.split_at(count * ty.block_bytes());
        assert_eq!(expected.len(), 4 * count * ty.block_len(), "{ty}");
        let expected: Vec<u32> = floats(expected).iter().map(|value| value.to_bits()).collect();
        assert_eq!(bits(&decoded(ty, bytes)), expected, "{ty}");
    }
}

#[test]
fn thousands_of_decoded_blocks_have_the_digest_of_the_package() {
    let digests = digests();
    for (ty, halves) in HALVES {
        let size = ty.block_bytes();
        let words = mix(1000 + u64::from(ty.id()), (3000 * size).div_ceil(8));
        let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(3000 * size).collect();
        for block in bytes.chunks_exact_mut(size) {
            halves.iter().for_each(|at| block[at + 1] &= 0xbf);
        }
        let words = bits(&decoded(ty, &bytes));
        assert_eq!(digest(words), digests[&format!("decode {ty}")], "{ty}");
    }
}

#[test]
fn every_byte_of_encoded_fixtures_is_that_of_the_package() {
    let values = floats(&fixture("encode_input.bin"));
    for ty in ENCODED {
        let expected = fixture(&format!("encode_{}.bin", ty.name().to_lowercase()));
        assert_eq!(encoded(ty, &values), expected, "{ty}");
    }
}

#[test]
fn thousands_of_encoded_blocks_have_the_digest_of_the_package() {
    let digests = digests();
    let values: Vec<f32> = mix(8, 5000 * 32)
        .enumerate()
        .map(|(i, z)| ((z >> 40) as f32 / 16_777_216.0 - 0.5) * f32::powi(2.0, (i / 32 % 21) as i32 - 10))
        .collect();
    for ty in ENCODED {
        let words = encoded(ty, &values).into_iter().map(u32::from).collect();
        assert_eq!(digest(words), digests[&format!("encode {ty}")], "{ty}");
    }
}

#[test]
fn plain_values_are_read_as_they_are() {
    let values = [0.0f32, -0.0, 1.5, f32::MIN_POSITIVE, f32::INFINITY, 1e-45];
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(bits(&decoded(BlockType::F32, &bytes)), bits(&values));
    assert_eq!(decoded(BlockType::F16, &[0, 0x7c, 0, 0xfc]), [f32::INFINITY, f32::NEG_INFINITY]);
    assert_eq!(decoded(BlockType::Bf16, &[0x80, 0x7f, 0xc0, 0xbf]), [f32::INFINITY, -1.5]);
}

#[test]
fn lengths_that_do_not_fit_are_named() {
    let error = decode(BlockType::Q4K, &[0; 100], &mut []).unwrap_err();
    assert_eq!(error.to_string(), "Q4_K: expected a multiple of 144 bytes, found 100");
    let error = decode(BlockType::Q4_0, &[0; 36], &mut [0.0; 32]).unwrap_err();
    assert_eq!(error, Error::Output { ty: BlockType::Q4_0, expected: 64, found: 32 });
    let error = encode(BlockType::Q8_0, &[0.0; 33], &mut [0; 34]).unwrap_err();
    assert_eq!(error.to_string(), "Q8_0: expected a multiple of 32 values, found 33");
    let error = encode(BlockType::Q8_0, &[0.0; 32], &mut [0; 35]).unwrap_err();
    assert_eq!(error.to_string(), "Q8_0: expected room for 34 results, found 35");
    assert_eq!(encode(BlockType::Q4K, &[], &mut []), Err(Error::NoEncoder { ty: BlockType::Q4K }));
    for ty in BlockType::all().filter(|ty| !ty.is_decodable()) {
        assert_eq!(decode(ty, &[], &mut []), Err(Error::NoDecoder { ty }));
    }
}

proptest! {
    #[test]
    fn any_bytes_of_any_type_decode(seed in any::<u64>(), count in 0usize..5) {
        for ty in BlockType::all().filter(|ty| ty.is_decodable()) {
            let bytes: Vec<u8> = mix(seed, count * ty.block_bytes()).map(|word| word as u8).collect();
            prop_assert!(decode(ty, &bytes, &mut vec![0.0; count * ty.block_len()]).is_ok());
        }
    }

    #[test]
    fn any_values_encode(values in prop::collection::vec(any::<f32>(), 32)) {
        for ty in ENCODED {
            decoded(ty, &encoded(ty, &values));
        }
    }

    #[test]
    fn decoded_values_are_near_those_that_were_encoded(values in prop::collection::vec(-8.0f32..8.0, 64)) {
        for ty in ENCODED {
            let levels = match ty {
                BlockType::Q8_0 => 127.0,
                BlockType::Q5_0 | BlockType::Q5_1 => 15.0,
                _ => 7.0,
            };
            for (value, back) in values.iter().zip(decoded(ty, &encoded(ty, &values))) {
                prop_assert!((value - back).abs() <= 8.1 / levels, "{ty}: {value} became {back}");
            }
        }
    }
}

fn decoded(ty: BlockType, bytes: &[u8]) -> Vec<f32> {
    let mut out = vec![f32::NAN; bytes.len() / ty.block_bytes() * ty.block_len()];
    decode(ty, bytes, &mut out).unwrap();
    out
}

fn encoded(ty: BlockType, values: &[f32]) -> Vec<u8> {
    let mut out = vec![0xaa; values.len() / ty.block_len() * ty.block_bytes()];
    encode(ty, values, &mut out).unwrap();
    out
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn digests() -> BTreeMap<String, u64> {
    let text = String::from_utf8(fixture("digests.txt")).unwrap();
    let parse = |line: &str| {
        let (name, digest) = line.rsplit_once(' ').unwrap();
        (name.to_owned(), u64::from_str_radix(digest, 16).unwrap())
    };
    text.lines().map(parse).collect()
}

/// `mix` of `make.py`: splitmix64.
fn mix(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(move |i| {
        let z = seed.wrapping_add(i.wrapping_mul(GOLDEN));
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

fn digest(words: Vec<u32>) -> u64 {
    words.into_iter().enumerate().fold(0, |sum: u64, (i, word)| {
        let weight = (i as u64).wrapping_mul(GOLDEN) | 1;
        sum.wrapping_add((u64::from(word) + 1).wrapping_mul(weight))
    })
}
