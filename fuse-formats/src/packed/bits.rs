//! Codes of a few bits, one after the other in words of 32 bits, lowest bits first; a code may cross into the next
//! word.
//!
//! Input: words, and the index of a code. Output: the code, or words with it set.

/// The largest code of a width below 32.
pub(super) fn largest(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// The code at an index, from words by index; words that do not exist are 0.
pub(super) fn code(word: impl Fn(usize) -> u32, bits: u32, index: usize) -> u32 {
    let (at, shift) = place(bits, index);
    let pair = if shift + bits > 32 { u64::from(word(at + 1)) << 32 } else { 0 } | u64::from(word(at));
    (pair >> shift) as u32 & largest(bits)
}

/// The words (at most two) and bits with which a code is set: the second is 0 unless the code crosses.
pub(super) fn set(code: u32, bits: u32, index: usize) -> (usize, [u32; 2]) {
    let (at, shift) = place(bits, index);
    let pair = u64::from(code & largest(bits)) << shift;
    (at, [pair as u32, (pair >> 32) as u32])
}

/// The word in which a code starts, and its lowest bit there. Multiplies per group of 32 codes, which is `bits` whole
/// words, so that no index overflows.
fn place(bits: u32, index: usize) -> (usize, u32) {
    let bit = (index % 32) as u32 * bits;
    (index / 32 * bits as usize + (bit / 32) as usize, bit % 32)
}
