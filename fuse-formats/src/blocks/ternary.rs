//! ggml's ternary super-blocks of 256: one scale, and codes 0, 1, 2 for -1, 0, 1.
//!
//! Formulas: ggml, `dequantize_row_tq1_0` and `dequantize_row_tq2_0`.

use super::{
    SUPER,
    block::{Base, Block},
    half_at,
};

/// 48 bytes of five codes, 4 bytes of four codes, `d`: `(q - 1) * d`. A byte is a fraction of 256 with codes as base-3
/// digits: digit n is the integer part of 3 times the fraction after a wrapping multiplication by `3^n`.
pub(super) fn tq1_0(block: &[u8; 54]) -> Block<SUPER, 1> {
    const POWERS: [u8; 5] = [1, 3, 9, 27, 81];
    // Start, end and digits per byte of each group of bytes; a group's elements are ordered by digit.
    let groups = [(0, 32, 5), (32, 48, 5), (48, 52, 4)];
    let mut codes = [0; SUPER];
    let mut rest = &mut codes[..];
    for (start, end, digits) in groups {
        for power in &POWERS[..digits] {
            let (codes, after) = rest.split_at_mut(end - start);
            for (code, byte) in codes.iter_mut().zip(&block[start..end]) {
                *code = ((u16::from(byte.wrapping_mul(*power)) * 3) >> 8) as u8;
            }
            rest = after;
        }
    }
    Block { codes, scales: [half_at(block, 52)], base: Base::Zero(1) }
}

/// 64 bytes of four codes each, `d`: `(q - 1) * d`. 32 bytes hold 128 elements, 32 in each pair of bits.
pub(super) fn tq2_0(block: &[u8; 66]) -> Block<SUPER, 1> {
    let mut codes = [0; SUPER];
    for (run, codes) in codes.chunks_exact_mut(32).enumerate() {
        for (code, &byte) in codes.iter_mut().zip(&block[32 * (run / 4)..]) {
            *code = (byte >> (2 * (run % 4))) & 3;
        }
    }
    Block { codes, scales: [half_at(block, 64)], base: Base::Zero(1) }
}
