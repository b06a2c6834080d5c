//! ggml's blocks of 32: one scale, with or without a minimum, and 4, 5 or 8 bits per element.
//!
//! Formulas: ggml, `dequantize_row_q4_0` and its siblings. Low nibbles of the 16 code bytes are elements 0 to 15, high
//! nibbles elements 16 to 31.

use super::{
    SMALL,
    block::{Base, Block},
    half_at,
};

/// `d`, 16 bytes of codes: `(q - 8) * d`.
pub(super) fn q4_0(block: &[u8; 18]) -> Block<SMALL, 1> {
    Block { codes: nibbles(&block[2..]), scales: [half_at(block, 0)], base: Base::Zero(8) }
}

/// `d`, `m`, 16 bytes of codes: `q * d + m`.
pub(super) fn q4_1(block: &[u8; 20]) -> Block<SMALL, 1> {
    Block { codes: nibbles(&block[4..]), scales: [half_at(block, 0)], base: Base::Offsets([half_at(block, 2)]) }
}

/// `d`, 4 bytes of fifth bits, 16 bytes of codes: `(q - 16) * d`.
pub(super) fn q5_0(block: &[u8; 22]) -> Block<SMALL, 1> {
    let codes = with_fifth_bits(nibbles(&block[6..]), [block[2], block[3], block[4], block[5]]);
    Block { codes, scales: [half_at(block, 0)], base: Base::Zero(16) }
}

/// `d`, `m`, 4 bytes of fifth bits, 16 bytes of codes: `q * d + m`.
pub(super) fn q5_1(block: &[u8; 24]) -> Block<SMALL, 1> {
    let codes = with_fifth_bits(nibbles(&block[8..]), [block[4], block[5], block[6], block[7]]);
    Block { codes, scales: [half_at(block, 0)], base: Base::Offsets([half_at(block, 2)]) }
}

/// `d`, 32 signed codes: `q * d`. Flipping the highest bit makes 128 the zero point.
pub(super) fn q8_0(block: &[u8; 34]) -> Block<SMALL, 1> {
    let mut codes = [0; SMALL];
    for (code, byte) in codes.iter_mut().zip(&block[2..]) {
        *code = byte ^ 0x80;
    }
    Block { codes, scales: [half_at(block, 0)], base: Base::Zero(128) }
}

fn nibbles(bytes: &[u8]) -> [u8; SMALL] {
    let mut codes = [0; SMALL];
    let (low, high) = codes.split_at_mut(SMALL / 2);
    for ((low, high), byte) in low.iter_mut().zip(high).zip(bytes) {
        (*low, *high) = (byte & 15, byte >> 4);
    }
    codes
}

fn with_fifth_bits(mut codes: [u8; SMALL], bits: [u8; 4]) -> [u8; SMALL] {
    let bits = u32::from_le_bytes(bits);
    for (j, code) in codes.iter_mut().enumerate() {
        *code |= (((bits >> j) & 1) as u8) << 4;
    }
    codes
}
