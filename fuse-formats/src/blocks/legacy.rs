//! Decoders of ggml's blocks of 32: one scale, with or without a minimum, and 4, 5 or 8 bits for each element.
//!
//! Input: one block. Output: its 32 values. Formulas: ggml, `dequantize_row_q4_0` and its siblings, over `block_q4_0`,
//! `block_q4_1`, `block_q5_0`, `block_q5_1` and `block_q8_0`. The low halves of the 16 bytes of codes are elements 0
//! to 15, the high halves elements 16 to 31.

use super::{SMALL, half_at};

/// `d`, 16 bytes of codes: `(q - 8) * d`.
pub(super) fn q4_0(block: &[u8; 18], out: &mut [f32; SMALL]) {
    let d = half_at(block, 0);
    for j in 0..16 {
        let [low, high] = nibbles(block[2 + j]);
        out[j] = (low - 8) as f32 * d;
        out[j + 16] = (high - 8) as f32 * d;
    }
}

/// `d`, `m`, 16 bytes of codes: `q * d + m`.
pub(super) fn q4_1(block: &[u8; 20], out: &mut [f32; SMALL]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    for j in 0..16 {
        let [low, high] = nibbles(block[4 + j]);
        out[j] = low as f32 * d + m;
        out[j + 16] = high as f32 * d + m;
    }
}

/// `d`, 4 bytes of fifth bits, 16 bytes of codes: `(q - 16) * d`.
pub(super) fn q5_0(block: &[u8; 22], out: &mut [f32; SMALL]) {
    let d = half_at(block, 0);
    let fifth = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    for j in 0..16 {
        let [low, high] = nibbles(block[6 + j]);
        out[j] = ((low | fifth_bit(fifth, j)) - 16) as f32 * d;
        out[j + 16] = ((high | fifth_bit(fifth, j + 16)) - 16) as f32 * d;
    }
}

/// `d`, `m`, 4 bytes of fifth bits, 16 bytes of codes: `q * d + m`.
pub(super) fn q5_1(block: &[u8; 24], out: &mut [f32; SMALL]) {
    let (d, m) = (half_at(block, 0), half_at(block, 2));
    let fifth = u32::from_le_bytes([block[4], block[5], block[6], block[7]]);
    for j in 0..16 {
        let [low, high] = nibbles(block[8 + j]);
        out[j] = (low | fifth_bit(fifth, j)) as f32 * d + m;
        out[j + 16] = (high | fifth_bit(fifth, j + 16)) as f32 * d + m;
    }
}

/// `d`, 32 signed codes: `q * d`.
pub(super) fn q8_0(block: &[u8; 34], out: &mut [f32; SMALL]) {
    let d = half_at(block, 0);
    for (value, &code) in out.iter_mut().zip(&block[2..]) {
        *value = f32::from(code as i8) * d;
    }
}

/// The low and the high half of a byte.
fn nibbles(byte: u8) -> [i32; 2] {
    [i32::from(byte & 15), i32::from(byte >> 4)]
}

/// The fifth bit of element `j`, where it belongs in the code.
fn fifth_bit(bits: u32, j: usize) -> i32 {
    i32::from((bits >> j) & 1 == 1) << 4
}
