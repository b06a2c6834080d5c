//! ggml's super-blocks of 256 elements: K-quants of 2 to 6 bits.
//!
//! A super-block has `f16` scales, its runs of 16 or 32 elements small integers. Formulas: ggml, `dequantize_row_q2_K`
//! and its siblings. A run's scale is multiplied by the super-block's first, then by the code; other orders round
//! differently.

use super::{
    SUPER,
    block::{Base, Block},
    half_at,
};

/// 16 bytes of scales and minima (4 bits each), 64 bytes of codes, `d`, `dmin`: `d * scale * q - dmin * min`.
pub(super) fn q2_k(block: &[u8; 84]) -> Block<SUPER, 16> {
    let (bytes, packed) = block.split_at(16);
    let (d, dmin) = (half_at(block, 80), half_at(block, 82));
    let (mut codes, mut scales, mut offsets) = ([0; SUPER], [0.0; 16], [0.0; 16]);
    for (run, codes) in codes.chunks_exact_mut(16).enumerate() {
        scales[run] = d * f32::from(bytes[run] & 15);
        offsets[run] = -(dmin * f32::from(bytes[run] >> 4));
        let (at, shift) = two_bits_of(run);
        for (code, &byte) in codes.iter_mut().zip(&packed[at..]) {
            *code = (byte >> shift) & 3;
        }
    }
    Block { codes, scales, base: Base::Offsets(offsets) }
}

/// 32 bytes of third bits, 64 bytes of codes, 12 bytes of scales (6 bits each), `d`: `d * (scale - 32) * (q - 4)`.
pub(super) fn q3_k(block: &[u8; 110]) -> Block<SUPER, 16> {
    let (thirds, packed, bytes) = (&block[..32], &block[32..96], &block[96..108]);
    let d = half_at(block, 108);
    let (mut codes, mut scales) = ([0; SUPER], [0.0; 16]);
    for (run, codes) in codes.chunks_exact_mut(16).enumerate() {
        // Low four bits: bytes 0 to 7, low nibbles first. High two bits: bytes 8 to 11, four scales apart.
        let low = (bytes[run % 8] >> (4 * (run / 8))) & 15;
        let high = (bytes[8 + run % 4] >> (2 * (run / 4))) & 3;
        scales[run] = d * (f32::from(low | (high << 4)) - 32.0);
        let (at, shift) = two_bits_of(run);
        for (l, code) in codes.iter_mut().enumerate() {
            // One bit of each third byte for each run of 32.
            let third = (thirds[16 * (run % 2) + l] >> (run / 2)) & 1;
            *code = ((packed[at + l] >> shift) & 3) | (third << 2);
        }
    }
    Block { codes, scales, base: Base::Zero(4) }
}

/// `d`, `dmin`, 12 bytes of scales and minima (6 bits each), 128 bytes of codes: `d * scale * q - dmin * min`.
pub(super) fn q4_k(block: &[u8; 144]) -> Block<SUPER, 8> {
    let (scales, base) = scales_and_minima(half_at(block, 0), half_at(block, 2), &block[4..16]);
    let mut codes = [0; SUPER];
    for (run, codes) in codes.chunks_exact_mut(32).enumerate() {
        for (code, &byte) in codes.iter_mut().zip(&block[16 + 32 * (run / 2)..]) {
            *code = (byte >> (4 * (run % 2))) & 15;
        }
    }
    Block { codes, scales, base }
}

/// `d`, `dmin`, 12 bytes of scales and minima (6 bits each), 32 bytes of fifth bits, 128 bytes of codes:
/// `d * scale * q - dmin * min`.
pub(super) fn q5_k(block: &[u8; 176]) -> Block<SUPER, 8> {
    let (scales, base) = scales_and_minima(half_at(block, 0), half_at(block, 2), &block[4..16]);
    let (fifths, packed) = (&block[16..48], &block[48..]);
    let mut codes = [0; SUPER];
    for (run, codes) in codes.chunks_exact_mut(32).enumerate() {
        for (l, code) in codes.iter_mut().enumerate() {
            let low = (packed[32 * (run / 2) + l] >> (4 * (run % 2))) & 15;
            *code = low | (((fifths[l] >> run) & 1) << 4);
        }
    }
    Block { codes, scales, base }
}

/// 128 bytes of low four bits, 64 bytes of high two bits, 16 signed scales, `d`: `d * scale * (q - 32)`.
pub(super) fn q6_k(block: &[u8; 210]) -> Block<SUPER, 16> {
    let (lows, highs, bytes) = (&block[..128], &block[128..192], &block[192..208]);
    let d = half_at(block, 208);
    let (mut codes, mut scales) = ([0; SUPER], [0.0; 16]);
    for (run, codes) in codes.chunks_exact_mut(16).enumerate() {
        scales[run] = d * f32::from(bytes[run] as i8);
        // Each half has eight runs. 64 low bytes hold four runs in low nibbles and four in high nibbles; 32 high bytes
        // hold two runs in each pair of bits.
        let (half, run) = (run / 8, run % 8);
        let (low_at, low_shift) = (64 * half + 16 * (run % 4), 4 * (run / 4));
        let (high_at, high_shift) = (32 * half + 16 * (run % 2), 2 * (run / 2));
        for (l, code) in codes.iter_mut().enumerate() {
            let low = (lows[low_at + l] >> low_shift) & 15;
            let high = (highs[high_at + l] >> high_shift) & 3;
            *code = low | (high << 4);
        }
    }
    Block { codes, scales, base: Base::Zero(32) }
}

fn scales_and_minima(d: f32, dmin: f32, bytes: &[u8]) -> ([f32; 8], Base<8>) {
    let (mut scales, mut offsets) = ([0.0; 8], [0.0; 8]);
    for run in 0..8 {
        let (scale, min) = scale_and_min(bytes, run);
        (scales[run], offsets[run]) = (d * scale, -(dmin * min));
    }
    (scales, Base::Offsets(offsets))
}

/// First byte and shift of the codes of a run of 16. 32 bytes hold eight runs, two in each pair of bits.
fn two_bits_of(run: usize) -> (usize, usize) {
    (32 * (run / 8) + 16 * (run % 2), 2 * (run % 8 / 2))
}

/// ggml's `get_scale_min_k4`, for a run of 32. The first four runs use six bits of a byte; its high two bits belong to
/// the last four.
fn scale_and_min(scales: &[u8], run: usize) -> (f32, f32) {
    let (scale, min) = if run < 4 {
        (scales[run] & 63, scales[run + 4] & 63)
    } else {
        let low = scales[run + 4];
        ((low & 15) | ((scales[run - 4] >> 6) << 4), (low >> 4) | ((scales[run] >> 6) << 4))
    };
    (f32::from(scale), f32::from(min))
}
