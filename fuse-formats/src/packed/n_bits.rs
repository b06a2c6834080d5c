//! ONNX Runtime's `MatMulNBits`: bytes of codes in blocks along K, with a scale and perhaps a zero point per block.
//!
//! Arrays are those of the contrib operator `com.microsoft.MatMulNBits`, and so is the formula `(q - z) * scale`. Not
//! here: floating-point zero points, and the permutation `g_idx`.

use super::{Error, check_codes, check_length, check_size, product};
use crate::codes::Codes;

/// Sizes of a `MatMulNBits` matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NBitsLayout {
    /// Bits per code: 2, 4 or 8.
    pub bits: u32,
    /// N, the width of the output.
    pub n: usize,
    /// K, the width of the input. A row's last block may exceed K; its excess codes are ignored.
    pub k: usize,
    /// Codes per block: a power of two, at least 16.
    pub block_size: usize,
}

/// Arrays of a `MatMulNBits` matrix.
#[derive(Clone, Copy, Debug)]
pub struct NBitsArrays<'a> {
    /// `B`, `[N, blocks, block size * bits / 8]`: codes, lowest bits first, in ⌈K / block size⌉ blocks per row.
    pub b: &'a [u8],
    /// `[N * blocks]`; widen `f16` scales, which is exact.
    pub scales: &'a [f32],
    /// `[N, ⌈blocks * bits / 8⌉]`: zero points, lowest bits first; each row starts at a byte. `None`: all are
    /// `2^(bits - 1)`.
    pub zero_points: Option<&'a [u8]>,
}

/// Result of [`NBitsLayout::pack`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NBitsBytes {
    /// `[N, blocks, block size * bits / 8]`; codes beyond K are 0.
    pub b: Vec<u8>,
    /// `[N, ⌈blocks * bits / 8⌉]`; codes beyond the blocks are 0.
    pub zero_points: Vec<u8>,
}

impl NBitsLayout {
    /// Blocks per row, ⌈K / block size⌉.
    pub fn blocks(&self) -> usize {
        self.k.div_ceil(self.block_size.max(1))
    }

    /// Decodes all values into `out`, `[N, K]`. Each product rounds once.
    ///
    /// # Errors
    /// [`Error::Size`] for unsupported sizes, [`Error::Length`] for arrays of other lengths.
    pub fn decode(&self, arrays: &NBitsArrays<'_>, out: &mut [f32]) -> Result<(), Error> {
        let row_bytes = self.check_arrays(arrays)?;
        let &Self { bits, n, k, block_size } = self;
        let blocks = self.blocks();
        check_length("out", &[n, k], out.len())?;
        for (row, (out, codes)) in out.chunks_exact_mut(k).zip(arrays.b.chunks_exact(row_bytes)).enumerate() {
            let scales = &arrays.scales[row * blocks..][..blocks];
            for (block, (out, scale)) in out.chunks_mut(block_size).zip(scales).enumerate() {
                let zero = self.zero(arrays, row, block);
                for (i, value) in out.iter_mut().enumerate() {
                    let code = code(codes, bits, block * block_size + i);
                    *value = (f32::from(code) - zero) * scale;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn codes(&self, arrays: &NBitsArrays<'_>) -> Result<Codes, Error> {
        let row_bytes = self.check_arrays(arrays)?;
        let &Self { bits, k, block_size: run, .. } = self;
        let rows = arrays.b.chunks_exact(row_bytes);
        let codes = rows.flat_map(|row| (0..k).map(move |column| code(row, bits, column))).collect();
        let zero = |at: usize| self.zero(arrays, at / self.blocks(), at % self.blocks());
        let offsets = arrays.scales.iter().enumerate().map(|(at, scale)| -(zero(at) * scale)).collect();
        Ok(Codes { bits, run, codes, scales: arrays.scales.to_vec(), offsets })
    }

    fn zero(&self, arrays: &NBitsArrays<'_>, row: usize, block: usize) -> f32 {
        let Some(zeros) = arrays.zero_points else { return f32::from(1u8 << (self.bits - 1)) };
        let bytes = self.zero_bytes();
        code(&zeros[row * bytes..][..bytes], self.bits, block).into()
    }

    fn zero_bytes(&self) -> usize {
        self.blocks().div_ceil(8 / self.bits as usize)
    }

    /// Returns the bytes per row of `B`.
    fn check_arrays(&self, arrays: &NBitsArrays<'_>) -> Result<usize, Error> {
        let row_bytes = self.check()?;
        check_length("b", &[self.n, row_bytes], arrays.b.len())?;
        check_length("scales", &[self.n, self.blocks()], arrays.scales.len())?;
        if let Some(zeros) = arrays.zero_points {
            check_length("zero_points", &[self.n, self.zero_bytes()], zeros.len())?;
        }
        Ok(row_bytes)
    }

    /// Packs codes `[N, K]` and zero points `[N, blocks]`, each below `2^bits`.
    ///
    /// # Errors
    /// [`Error::Size`], [`Error::Length`], [`Error::Range`] for a code with more bits, or [`Error::Overflow`] for
    /// blocks that exceed memory.
    pub fn pack(&self, codes: &[u8], zeros: &[u8]) -> Result<NBitsBytes, Error> {
        let row_bytes = self.check()?;
        let &Self { bits, n, k, .. } = self;
        check_length("codes", &[n, k], codes.len())?;
        check_length("zeros", &[n, self.blocks()], zeros.len())?;
        let largest = super::bits::largest(bits);
        check_codes("codes", codes, largest)?;
        check_codes("zeros", zeros, largest)?;
        Ok(NBitsBytes {
            b: pack_rows("b", codes, k, bits, n, row_bytes)?,
            zero_points: pack_rows("zero_points", zeros, self.blocks(), bits, n, self.zero_bytes())?,
        })
    }

    /// Returns the bytes per row of `B`.
    fn check(&self) -> Result<usize, Error> {
        check_size("bits", matches!(self.bits, 2 | 4 | 8), "2, 4 or 8", self.bits as usize)?;
        check_size("n", self.n > 0, "at least 1", self.n)?;
        check_size("k", self.k > 0, "at least 1", self.k)?;
        let valid = self.block_size.is_power_of_two() && self.block_size >= 16;
        check_size("block_size", valid, "a power of two, at least 16", self.block_size)?;
        let per_byte = 8 / self.bits as usize;
        product("b", &[self.blocks(), self.block_size / per_byte])
    }
}

fn code(bytes: &[u8], bits: u32, index: usize) -> u8 {
    let per_byte = 8 / bits as usize;
    (bytes[index / per_byte] >> (index % per_byte * bits as usize)) & super::bits::largest(bits) as u8
}

fn pack_rows(
    argument: &'static str,
    codes: &[u8],
    len: usize,
    bits: u32,
    rows: usize,
    row_bytes: usize,
) -> Result<Vec<u8>, Error> {
    let per_byte = 8 / bits as usize;
    let length = product(argument, &[rows, row_bytes])?;
    // Blocks may be much longer than the codes; a failed allocation must be an error, not an abort.
    let mut packed = vec![];
    packed.try_reserve_exact(length).map_err(|_| Error::Overflow { argument })?;
    packed.resize(length, 0);
    for (codes, packed) in codes.chunks_exact(len).zip(packed.chunks_exact_mut(row_bytes)) {
        for (i, code) in codes.iter().enumerate() {
            packed[i / per_byte] |= code << (i % per_byte * bits as usize);
        }
    }
    Ok(packed)
}
