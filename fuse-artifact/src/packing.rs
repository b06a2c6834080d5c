use crate::Size;

/// Layout of a quantized tensor's codes in 32-bit words.
///
/// Codes of `bits` bits form a stream along the packed axis, from the lowest bits of the first word on. 8, 4, 2 and 1
/// bits divide 32, so no code straddles words; 32 codes of 3 bits take 3 words. The packed axis is padded with zeros to
/// whole blocks: the fewest codes that fill whole words.
///
/// Codes `q` in `0..2^bits` mean `q·scale + offset`, computed in `f32`. The pair `(scale, offset)` belongs to a group
/// of neighboring codes along the packed axis. A symmetric scheme has `offset = -2^(bits-1)·scale`; with 1 bit, `offset
/// = -scale/2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Packing {
    /// 8 bits.
    Q8,
    /// 4 bits.
    Q4,
    /// 3 bits.
    Q3,
    /// 2 bits.
    Q2,
    /// 1 bit.
    Q1,
}

impl Packing {
    /// All packings, the most precise first.
    pub const ALL: [Self; 5] = [Self::Q8, Self::Q4, Self::Q3, Self::Q2, Self::Q1];

    /// Divisor of groups that do not span the whole axis, so that they start at blocks.
    pub const GROUP_MULTIPLE: usize = 32;

    /// Bits per value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Q8 => 8,
            Self::Q4 => 4,
            Self::Q3 => 3,
            Self::Q2 => 2,
            Self::Q1 => 1,
        }
    }

    /// Name in `fuse!` and in messages, such as `q4`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q8 => "q8",
            Self::Q4 => "q4",
            Self::Q3 => "q3",
            Self::Q2 => "q2",
            Self::Q1 => "q1",
        }
    }

    /// Largest code.
    pub const fn largest(self) -> u32 {
        (1 << self.bits()) - 1
    }

    /// Values per block.
    pub const fn block_values(self) -> u32 {
        self.block_words() * 32 / self.bits()
    }

    /// Words per block.
    pub const fn block_words(self) -> u32 {
        if matches!(self, Self::Q3) { 3 } else { 1 }
    }

    /// Words of a packed axis of `extent` values.
    pub const fn words(self, extent: usize) -> usize {
        extent.div_ceil(self.block_values() as usize) * self.block_words() as usize
    }

    /// Blocks of a packed axis of `extent` values: dividend and divisor of a quotient rounded down.
    pub fn blocks(self, extent: &Size) -> (Size, Size) {
        let values = u64::from(self.block_values());
        (extent.add(&Size::constant(values - 1)), Size::constant(values))
    }

    /// Value at `index` of a packed axis; `word` reads its words.
    pub fn unpack(self, index: usize, word: impl Fn(usize) -> u32) -> u32 {
        let bit = index * self.bits() as usize;
        let (first, shift) = (bit / 32, bit % 32);
        let low = u64::from(word(first)) >> shift;
        let straddles = shift + self.bits() as usize > 32;
        let high = if straddles { u64::from(word(first + 1)) << (32 - shift) } else { 0 };
        (low | high) as u32 & self.largest()
    }

    /// Sets the value at `index` of a packed axis, which must be 0 before.
    ///
    /// `word` sets bits of a word; higher bits of `value` are ignored.
    pub fn pack(self, index: usize, value: u32, mut word: impl FnMut(usize, u32)) {
        let bit = index * self.bits() as usize;
        let (first, shift) = (bit / 32, bit % 32);
        let spread = u64::from(value & self.largest()) << shift;
        word(first, spread as u32);
        if spread >> 32 != 0 {
            word(first + 1, (spread >> 32) as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        for packing in Packing::ALL {
            let extent = 77;
            let mut words = vec![0u32; packing.words(extent)];
            let value = |i: usize| (i * 2_654_435_761) as u32 >> 7 & packing.largest();
            (0..extent).for_each(|i| packing.pack(i, value(i), |at, bits| words[at] |= bits));
            let unpacked: Vec<u32> = (0..extent).map(|i| packing.unpack(i, |at| words[at])).collect();
            assert_eq!(unpacked, (0..extent).map(value).collect::<Vec<_>>(), "{}", packing.name());
        }
    }

    #[test]
    fn blocks_are_whole_words() {
        let sizes = Packing::ALL.map(|packing| (packing.block_values(), packing.block_words(), packing.words(33)));
        assert_eq!(sizes, [(4, 1, 9), (8, 1, 5), (32, 3, 6), (16, 1, 3), (32, 1, 2)]);
        let (dividend, divisor) = Packing::Q3.blocks(&Size::constant(33));
        assert_eq!((dividend.as_constant(), divisor.as_constant()), (Some(64), Some(32)));
    }
}
