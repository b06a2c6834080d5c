//! GPTQ's arrays (AutoGPTQ, GPTQModel and their checkpoints): words of codes along K, zero points along N.
//!
//! Formula: AutoGPTQ's `QuantLinear`, `scales[g] * (q - z)`, where g is the row's group.

use half::f16;

use super::{Error, bits, check_codes, check_length, check_size, product};
use crate::codes::Codes;

/// Encoding of zero points in `qzeros`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredZero {
    /// Zero point minus one (`checkpoint_format` "gptq", or none).
    ///
    /// All ones encode the zero point 0, as packers write it and AutoGPTQ's first layers read it; some readers take it
    /// as `2^bits`. Quantizers produce neither unless all weights of a group have one sign.
    MinusOne,
    /// Zero point itself (`checkpoint_format` "gptq_v2").
    Plain,
}

/// Sizes of a GPTQ matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GptqLayout {
    /// Bits per code: 2, 3, 4 or 8. Codes fill words from the lowest bits; 32 codes of 3 bits fill 3 words, two of them
    /// straddling.
    pub bits: u32,
    /// K, the width of the input: a multiple of the codes that fill whole words (32 / bits, or 32 for 3 bits).
    pub k: usize,
    /// N, the width of the output: a multiple of the same.
    pub n: usize,
    /// Rows per group with common scales. K for one group, -1 in configurations.
    pub group_size: usize,
    /// Encoding of zero points.
    pub stored_zero: StoredZero,
}

/// Arrays of a GPTQ matrix.
#[derive(Clone, Copy, Debug)]
pub struct GptqArrays<'a> {
    /// `[K * bits / 32, N]`: codes, along K.
    pub qweight: &'a [i32],
    /// `[groups, N * bits / 32]`: zero points, along N; ⌈K / group size⌉ groups.
    pub qzeros: &'a [i32],
    /// `[groups, N]`.
    pub scales: &'a [f16],
    /// `[K]`: the group of each row, if quantization ordered rows by activation. `None`: row k is in group k / group
    /// size.
    pub g_idx: Option<&'a [i32]>,
}

/// Result of [`GptqLayout::pack`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GptqWords {
    /// `[K * bits / 32, N]`.
    pub qweight: Vec<i32>,
    /// `[groups, N * bits / 32]`.
    pub qzeros: Vec<i32>,
}

impl GptqLayout {
    /// Number of groups, ⌈K / group size⌉.
    pub fn groups(&self) -> usize {
        self.k.div_ceil(self.group_size.max(1))
    }

    /// Decodes all values into `out`, `[K, N]`. Exact.
    ///
    /// # Errors
    /// [`Error::Size`] for unsupported sizes, [`Error::Length`] for arrays of other lengths, [`Error::Range`] for a
    /// missing group in `g_idx`.
    pub fn decode(&self, arrays: &GptqArrays<'_>, out: &mut [f32]) -> Result<(), Error> {
        let word_columns = self.check_arrays(arrays)?;
        let &Self { bits, k, n, .. } = self;
        check_length("out", &[k, n], out.len())?;
        let (mut zeros, mut zeros_of) = (vec![], None);
        for (row, out) in out.chunks_exact_mut(n).enumerate() {
            let group = arrays.g_idx.map_or(row / self.group_size, |g_idx| g_idx[row] as usize);
            if zeros_of != Some(group) {
                zeros = self.zeros(&arrays.qzeros[group * word_columns..][..word_columns]);
                zeros_of = Some(group);
            }
            let scales = &arrays.scales[group * n..][..n];
            for (column, ((value, scale), zero)) in out.iter_mut().zip(scales).zip(&zeros).enumerate() {
                let code = bits::code(|word| arrays.qweight[word * n + column] as u32, bits, row);
                *value = scale.to_f32() * (code as f32 - zero);
            }
        }
        Ok(())
    }

    /// Codes `[K, N]`, scales and offsets `[groups, N]`. Ignores the order of `g_idx`.
    pub(crate) fn codes(&self, arrays: &GptqArrays<'_>) -> Result<Codes, Error> {
        let word_columns = self.check_arrays(arrays)?;
        let &Self { bits, k, n, group_size: run, .. } = self;
        let word = |row: usize, column: usize| arrays.qweight[row * n + column] as u32;
        let code = |row, column| bits::code(|word_row| word(word_row, column), bits, row) as u8;
        let codes = (0..k).flat_map(|row| (0..n).map(move |column| code(row, column))).collect();
        let scales: Vec<f32> = arrays.scales.iter().map(|scale| scale.to_f32()).collect();
        let zeros = arrays.qzeros.chunks_exact(word_columns).flat_map(|words| self.zeros(words));
        let offsets = scales.iter().zip(zeros).map(|(scale, zero)| -(zero * scale)).collect();
        Ok(Codes { bits, run, codes, scales, offsets })
    }

    fn zeros(&self, words: &[i32]) -> Vec<f32> {
        let added = match self.stored_zero {
            StoredZero::MinusOne => 1,
            StoredZero::Plain => 0,
        };
        let stored = |column| bits::code(|word| words[word] as u32, self.bits, column);
        (0..self.n).map(|column| ((stored(column) + added) & bits::largest(self.bits)) as f32).collect()
    }

    /// Returns the columns of `qzeros`.
    fn check_arrays(&self, arrays: &GptqArrays<'_>) -> Result<usize, Error> {
        let (word_rows, word_columns) = self.check()?;
        let &Self { k, n, .. } = self;
        let groups = self.groups();
        check_length("qweight", &[word_rows, n], arrays.qweight.len())?;
        check_length("qzeros", &[groups, word_columns], arrays.qzeros.len())?;
        check_length("scales", &[groups, n], arrays.scales.len())?;
        if let Some(g_idx) = arrays.g_idx {
            check_length("g_idx", &[k], g_idx.len())?;
            let inside = |&group: &i32| usize::try_from(group).is_ok_and(|group| group < groups);
            if let Some(index) = g_idx.iter().position(|group| !inside(group)) {
                let (most, found) = (groups as i64 - 1, g_idx[index].into());
                return Err(Error::Range { argument: "g_idx", index, least: 0, most, found });
            }
        }
        Ok(word_columns)
    }

    /// Packs codes `[K, N]` and zero points `[groups, N]`, each below `2^bits`.
    ///
    /// # Errors
    /// [`Error::Size`], [`Error::Length`], or [`Error::Range`] for a code with more bits.
    pub fn pack(&self, codes: &[u8], zeros: &[u8]) -> Result<GptqWords, Error> {
        let (word_rows, word_columns) = self.check()?;
        let &Self { bits, k, n, .. } = self;
        check_length("codes", &[k, n], codes.len())?;
        check_length("zeros", &[self.groups(), n], zeros.len())?;
        let largest = bits::largest(bits);
        check_codes("codes", codes, largest)?;
        check_codes("zeros", zeros, largest)?;
        // Shorter than the existing codes, so it fits in memory.
        let mut qweight = vec![0; product("qweight", &[word_rows, n])?];
        for (row, codes) in codes.chunks_exact(n).enumerate() {
            for (column, &code) in codes.iter().enumerate() {
                let (at, words) = bits::set(code.into(), bits, row);
                for (word, set) in (at..).zip(words).filter(|(_, set)| *set != 0) {
                    qweight[word * n + column] |= set as i32;
                }
            }
        }
        let mut qzeros = vec![0; product("qzeros", &[self.groups(), word_columns])?];
        for (zeros, qzeros) in zeros.chunks_exact(n).zip(qzeros.chunks_exact_mut(word_columns)) {
            for (column, &zero) in zeros.iter().enumerate() {
                let stored = match self.stored_zero {
                    StoredZero::MinusOne => u32::from(zero).wrapping_sub(1),
                    StoredZero::Plain => zero.into(),
                };
                let (at, words) = bits::set(stored, bits, column);
                for (word, set) in (at..).zip(words).filter(|(_, set)| *set != 0) {
                    qzeros[word] |= set as i32;
                }
            }
        }
        Ok(GptqWords { qweight, qzeros })
    }

    /// Returns the rows of `qweight` and the columns of `qzeros`.
    fn check(&self) -> Result<(usize, usize), Error> {
        let (whole, expected) = match self.bits {
            2 => (16, "a multiple of 16 above 0"),
            3 => (32, "a multiple of 32 above 0"),
            4 => (8, "a multiple of 8 above 0"),
            8 => (4, "a multiple of 4 above 0"),
            other => return Err(Error::Size { argument: "bits", expected: "2, 3, 4 or 8", found: other as usize }),
        };
        check_size("k", self.k > 0 && self.k.is_multiple_of(whole), expected, self.k)?;
        check_size("n", self.n > 0 && self.n.is_multiple_of(whole), expected, self.n)?;
        check_size("group_size", self.group_size > 0, "at least 1", self.group_size)?;
        let words_of = |codes: usize| codes / whole * if self.bits == 3 { 3 } else { 1 };
        Ok((words_of(self.k), words_of(self.n)))
    }
}
