//! AWQ's "gemm" arrays (AutoAWQ and its checkpoints): words of eight interleaved codes along N.
//!
//! Formula: AutoAWQ's `WQLinear_GEMM`, `scales[g] * (q - z)`, with row k in group k / group size.

use half::f16;

use super::{Error, check_codes, check_length, check_size, product};
use crate::codes::Codes;

const CODES: usize = 8;

/// Column of each nibble of a word, lowest bits first.
const ORDER: [usize; CODES] = [0, 2, 4, 6, 1, 3, 5, 7];

const LARGEST: u32 = 15;

/// Sizes of a 4-bit AWQ matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AwqLayout {
    /// K, the width of the input.
    pub k: usize,
    /// N, the width of the output: a multiple of 8.
    pub n: usize,
    /// Rows per group with common scales. K for one group, -1 in configurations.
    pub group_size: usize,
}

/// Arrays of an AWQ matrix.
#[derive(Clone, Copy, Debug)]
pub struct AwqArrays<'a> {
    /// `[K, N / 8]`: codes.
    pub qweight: &'a [i32],
    /// `[groups, N / 8]`: unshifted zero points, in the same order; ⌈K / group size⌉ groups.
    pub qzeros: &'a [i32],
    /// `[groups, N]`.
    pub scales: &'a [f16],
}

/// Result of [`AwqLayout::pack`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwqWords {
    /// `[K, N / 8]`.
    pub qweight: Vec<i32>,
    /// `[groups, N / 8]`.
    pub qzeros: Vec<i32>,
}

impl AwqLayout {
    /// Number of groups, ⌈K / group size⌉.
    pub fn groups(&self) -> usize {
        self.k.div_ceil(self.group_size.max(1))
    }

    /// Decodes all values into `out`, `[K, N]`. Exact.
    ///
    /// # Errors
    /// [`Error::Size`] for unsupported sizes, [`Error::Length`] for arrays of other lengths.
    pub fn decode(&self, arrays: &AwqArrays<'_>, out: &mut [f32]) -> Result<(), Error> {
        let words = self.check_arrays(arrays)?;
        let &Self { k, n, group_size } = self;
        check_length("out", &[k, n], out.len())?;
        for (row, (out, codes)) in out.chunks_exact_mut(n).zip(arrays.qweight.chunks_exact(words)).enumerate() {
            let group = row / group_size;
            let zeros = &arrays.qzeros[group * words..][..words];
            let scales = &arrays.scales[group * n..][..n];
            let (outs, scales) = (out.chunks_exact_mut(CODES), scales.chunks_exact(CODES));
            for (((out, scales), &codes), &zeros) in outs.zip(scales).zip(codes).zip(zeros) {
                for (i, &column) in ORDER.iter().enumerate() {
                    let four = |word: i32| ((word as u32 >> (4 * i)) & LARGEST) as f32;
                    out[column] = scales[column].to_f32() * (four(codes) - four(zeros));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn codes(&self, arrays: &AwqArrays<'_>) -> Result<Codes, Error> {
        self.check_arrays(arrays)?;
        let unpacked = |words: &[i32]| -> Vec<u8> { words.iter().copied().flat_map(codes_of).collect() };
        let scales: Vec<f32> = arrays.scales.iter().map(|scale| scale.to_f32()).collect();
        let zeros = unpacked(arrays.qzeros);
        let offsets = scales.iter().zip(zeros).map(|(scale, zero)| -(f32::from(zero) * scale)).collect();
        Ok(Codes { bits: 4, run: self.group_size, codes: unpacked(arrays.qweight), scales, offsets })
    }

    /// Returns the words per row.
    fn check_arrays(&self, arrays: &AwqArrays<'_>) -> Result<usize, Error> {
        let words = self.check()?;
        check_length("qweight", &[self.k, words], arrays.qweight.len())?;
        check_length("qzeros", &[self.groups(), words], arrays.qzeros.len())?;
        check_length("scales", &[self.groups(), self.n], arrays.scales.len())?;
        Ok(words)
    }

    /// Packs codes `[K, N]` and zero points `[groups, N]`, each below 16.
    ///
    /// # Errors
    /// [`Error::Size`], [`Error::Length`], or [`Error::Range`] for a code with more bits.
    pub fn pack(&self, codes: &[u8], zeros: &[u8]) -> Result<AwqWords, Error> {
        self.check()?;
        check_length("codes", &[self.k, self.n], codes.len())?;
        check_length("zeros", &[self.groups(), self.n], zeros.len())?;
        check_codes("codes", codes, LARGEST)?;
        check_codes("zeros", zeros, LARGEST)?;
        let word = |codes: &[u8]| {
            let set = |(i, &column): (usize, &usize)| u32::from(codes[column]) << (4 * i);
            ORDER.iter().enumerate().map(set).sum::<u32>() as i32
        };
        let words = |codes: &[u8]| codes.chunks_exact(CODES).map(word).collect();
        Ok(AwqWords { qweight: words(codes), qzeros: words(zeros) })
    }

    /// Returns the words per row.
    fn check(&self) -> Result<usize, Error> {
        check_size("k", self.k > 0, "at least 1", self.k)?;
        check_size("n", self.n > 0 && self.n.is_multiple_of(CODES), "a multiple of 8 above 0", self.n)?;
        check_size("group_size", self.group_size > 0, "at least 1", self.group_size)?;
        product("out", &[self.k, self.n])?;
        Ok(self.n / CODES)
    }
}

fn codes_of(word: i32) -> [u8; CODES] {
    let mut codes = [0; CODES];
    for (i, &column) in ORDER.iter().enumerate() {
        codes[column] = ((word as u32 >> (4 * i)) & LARGEST) as u8;
    }
    codes
}
