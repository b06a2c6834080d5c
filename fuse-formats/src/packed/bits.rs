//! Streams of few-bit codes in 32-bit words, lowest bits first; a code may straddle two words.

pub(super) fn largest(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// The code at an index; `word` reads words, missing ones as 0.
pub(super) fn code(word: impl Fn(usize) -> u32, bits: u32, index: usize) -> u32 {
    let (at, shift) = place(bits, index);
    let pair = if shift + bits > 32 { u64::from(word(at + 1)) << 32 } else { 0 } | u64::from(word(at));
    (pair >> shift) as u32 & largest(bits)
}

/// First word and bits (of two words) that set a code; the second is 0 unless the code straddles.
pub(super) fn set(code: u32, bits: u32, index: usize) -> (usize, [u32; 2]) {
    let (at, shift) = place(bits, index);
    let pair = u64::from(code & largest(bits)) << shift;
    (at, [pair as u32, (pair >> 32) as u32])
}

/// Word and lowest bit of a code. Multiplies per 32 codes, which fill `bits` whole words, so no index overflows.
fn place(bits: u32, index: usize) -> (usize, u32) {
    let bit = (index % 32) as u32 * bits;
    (index / 32 * bits as usize + (bit / 32) as usize, bit % 32)
}
