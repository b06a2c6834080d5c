//! Encoders of ggml's blocks of 32: `f32` values to bytes.
//!
//! Results equal those of ggml's reference functions (`quantize_row_q4_0_ref` and its siblings). The scale divides
//! before it is rounded to `f16`, so codes are those of the exact scale.

use half::f16;

use super::{BlockType, Error, SMALL};

/// Encodes n times 32 values as n blocks of Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0.
///
/// ggml leaves values that are not finite undefined; here codes saturate, and a NaN becomes code 0.
///
/// # Errors
/// [`Error::NoEncoder`] for other types, [`Error::PartialValues`], or [`Error::Output`] if `out` has another length.
pub fn encode(ty: BlockType, values: &[f32], out: &mut [u8]) -> Result<(), Error> {
    let formula = match ty {
        BlockType::Q4_0 => q4_0,
        BlockType::Q4_1 => q4_1,
        BlockType::Q5_0 => q5_0,
        BlockType::Q5_1 => q5_1,
        BlockType::Q8_0 => q8_0,
        _ => return Err(Error::NoEncoder { ty }),
    };
    let (blocks, rest) = values.as_chunks::<SMALL>();
    if !rest.is_empty() {
        return Err(Error::PartialValues { ty, block_len: SMALL, found: values.len() });
    }
    let expected = blocks.len().saturating_mul(ty.block_bytes());
    if out.len() != expected {
        return Err(Error::Output { ty, expected, found: out.len() });
    }
    for (block, out) in blocks.iter().zip(out.chunks_exact_mut(ty.block_bytes())) {
        formula(block, out);
    }
    Ok(())
}

fn q4_0(values: &[f32; SMALL], out: &mut [u8]) {
    let d = farthest(values) / -8.0;
    let codes = codes(values, 0.0, inverse(d), 8.5, 15);
    write_half(&mut out[..2], d);
    write_nibbles(&mut out[2..], &codes);
}

fn q4_1(values: &[f32; SMALL], out: &mut [u8]) {
    let (min, max) = extent(values);
    let d = (max - min) / 15.0;
    let codes = codes(values, min, inverse(d), 0.5, 15);
    write_half(&mut out[..2], d);
    write_half(&mut out[2..4], min);
    write_nibbles(&mut out[4..], &codes);
}

fn q5_0(values: &[f32; SMALL], out: &mut [u8]) {
    let d = farthest(values) / -16.0;
    let codes = codes(values, 0.0, inverse(d), 16.5, 31);
    write_half(&mut out[..2], d);
    out[2..6].copy_from_slice(&fifth_bits(&codes));
    write_nibbles(&mut out[6..], &codes);
}

fn q5_1(values: &[f32; SMALL], out: &mut [u8]) {
    let (min, max) = extent(values);
    let d = (max - min) / 31.0;
    let codes = codes(values, min, inverse(d), 0.5, 31);
    write_half(&mut out[..2], d);
    write_half(&mut out[2..4], min);
    out[4..8].copy_from_slice(&fifth_bits(&codes));
    write_nibbles(&mut out[8..], &codes);
}

fn q8_0(values: &[f32; SMALL], out: &mut [u8]) {
    let d = farthest(values).abs() / 127.0;
    let inverse = inverse(d);
    write_half(&mut out[..2], d);
    for (byte, value) in out[2..].iter_mut().zip(values) {
        // Ties round away from zero, like C's `roundf`.
        *byte = (value * inverse).round() as i8 as u8;
    }
}

fn farthest(values: &[f32; SMALL]) -> f32 {
    let mut farthest = 0.0f32;
    for &value in values {
        if farthest.abs() < value.abs() {
            farthest = value;
        }
    }
    farthest
}

fn extent(values: &[f32; SMALL]) -> (f32, f32) {
    let (mut min, mut max) = (f32::MAX, -f32::MAX);
    for &value in values {
        if value < min {
            min = value;
        }
        if value > max {
            max = value;
        }
    }
    (min, max)
}

/// `1 / d`, or 0 for a block of equal values.
fn inverse(d: f32) -> f32 {
    if d == 0.0 { 0.0 } else { 1.0 / d }
}

/// Codes `(value - min) * inverse + offset`, truncated, at most `largest`.
fn codes(values: &[f32; SMALL], min: f32, inverse: f32, offset: f32, largest: u8) -> [u8; SMALL] {
    values.map(|value| (((value - min) * inverse + offset) as u8).min(largest))
}

fn write_half(out: &mut [u8], value: f32) {
    out.copy_from_slice(&f16::from_f32(value).to_le_bytes());
}

/// Low four bits: the first 16 codes in the low nibbles.
fn write_nibbles(out: &mut [u8], codes: &[u8; SMALL]) {
    for (j, byte) in out.iter_mut().enumerate() {
        *byte = (codes[j] & 15) | ((codes[j + 16] & 15) << 4);
    }
}

fn fifth_bits(codes: &[u8; SMALL]) -> [u8; 4] {
    let bits = codes.iter().enumerate().fold(0, |bits, (j, code)| bits | (u32::from(code >> 4) << j));
    bits.to_le_bytes()
}
