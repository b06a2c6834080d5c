//! ONNX Runtime's `MatMulNBits`: bytes of codes in blocks along K, one scale and perhaps a zero point for each block.
//!
//! Input: `B`, `scales` and perhaps `zero_points`, as the operator takes them. Output: values `[N, K]`. Formula: ONNX
//! Runtime's contrib operator `com.microsoft.MatMulNBits`, `(q - z) * scale`. Not here: zero points of a
//! floating-point type, and the permutation `g_idx`.

use super::{Error, check_codes, check_length, check_size, product};

/// The sizes of a `MatMulNBits` matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NBitsLayout {
    /// Bits of a code: 2, 4 or 8.
    pub bits: u32,
    /// N, the width of the output.
    pub n: usize,
    /// K, the width of the input. A row's last block may be longer than what is left of K: the rest of its codes is
    /// not looked at.
    pub k: usize,
    /// Codes of a block: a power of two, at least 16.
    pub block_size: usize,
}

/// The arrays of a `MatMulNBits` matrix.
#[derive(Clone, Copy, Debug)]
pub struct NBitsArrays<'a> {
    /// `B`, `[N, blocks, block size * bits / 8]`: codes, lowest bits first. There are ⌈K / block size⌉ blocks in a row.
    pub b: &'a [u8],
    /// `[N * blocks]`; halves are to be widened, which is exact.
    pub scales: &'a [f32],
    /// `[N, ⌈blocks * bits / 8⌉]`: zero points, lowest bits first, each row in bytes of its own. Without, all are
    /// `2^(bits - 1)`.
    pub zero_points: Option<&'a [u8]>,
}

/// What [`NBitsLayout::pack`] makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NBitsBytes {
    /// `[N, blocks, block size * bits / 8]`; codes beyond K are 0.
    pub b: Vec<u8>,
    /// `[N, ⌈blocks * bits / 8⌉]`; codes beyond the blocks are 0.
    pub zero_points: Vec<u8>,
}

impl NBitsLayout {
    /// Blocks of a row, ⌈K / block size⌉.
    pub fn blocks(&self) -> usize {
        self.k.div_ceil(self.block_size.max(1))
    }

    /// Decodes all values into `out`, `[N, K]`. Each product rounds once.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] for sizes that the operator does not have, [`Error::Length`] for arrays of other lengths.
    pub fn decode(&self, arrays: &NBitsArrays<'_>, out: &mut [f32]) -> Result<(), Error> {
        let (row_bytes, zero_bytes) = self.check()?;
        let &Self { bits, n, k, block_size } = self;
        let blocks = self.blocks();
        check_length("b", &[n, row_bytes], arrays.b.len())?;
        check_length("scales", &[n, blocks], arrays.scales.len())?;
        if let Some(zeros) = arrays.zero_points {
            check_length("zero_points", &[n, zero_bytes], zeros.len())?;
        }
        check_length("out", &[n, k], out.len())?;
        for (row, (out, codes)) in out.chunks_exact_mut(k).zip(arrays.b.chunks_exact(row_bytes)).enumerate() {
            let scales = &arrays.scales[row * blocks..][..blocks];
            let zeros = arrays.zero_points.map(|zeros| &zeros[row * zero_bytes..][..zero_bytes]);
            for (block, (out, scale)) in out.chunks_mut(block_size).zip(scales).enumerate() {
                let zero = zeros.map_or(1 << (bits - 1), |zeros| code(zeros, bits, block));
                for (i, value) in out.iter_mut().enumerate() {
                    let code = code(codes, bits, block * block_size + i);
                    *value = (f32::from(code) - f32::from(zero)) * scale;
                }
            }
        }
        Ok(())
    }

    /// Packs codes `[N, K]` and zero points `[N, blocks]`, each below `2^bits`.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], [`Error::Length`], [`Error::Range`] for a code that has more bits, or [`Error::Overflow`] for
    /// blocks that no memory holds.
    pub fn pack(&self, codes: &[u8], zeros: &[u8]) -> Result<NBitsBytes, Error> {
        let (row_bytes, zero_bytes) = self.check()?;
        let &Self { bits, n, k, .. } = self;
        check_length("codes", &[n, k], codes.len())?;
        check_length("zeros", &[n, self.blocks()], zeros.len())?;
        let largest = super::bits::largest(bits);
        check_codes("codes", codes, largest)?;
        check_codes("zeros", zeros, largest)?;
        Ok(NBitsBytes {
            b: pack_rows("b", codes, k, bits, n, row_bytes)?,
            zero_points: pack_rows("zero_points", zeros, self.blocks(), bits, n, zero_bytes)?,
        })
    }

    /// Checks the sizes; the bytes of a row of `B` and of `zero_points`.
    fn check(&self) -> Result<(usize, usize), Error> {
        check_size("bits", matches!(self.bits, 2 | 4 | 8), "2, 4 or 8", self.bits as usize)?;
        check_size("n", self.n > 0, "at least 1", self.n)?;
        check_size("k", self.k > 0, "at least 1", self.k)?;
        let valid = self.block_size.is_power_of_two() && self.block_size >= 16;
        check_size("block_size", valid, "a power of two, at least 16", self.block_size)?;
        let per_byte = 8 / self.bits as usize;
        let row_bytes = product("b", &[self.blocks(), self.block_size / per_byte])?;
        Ok((row_bytes, self.blocks().div_ceil(per_byte)))
    }
}

/// The code at an index.
fn code(bytes: &[u8], bits: u32, index: usize) -> u8 {
    let per_byte = 8 / bits as usize;
    (bytes[index / per_byte] >> (index % per_byte * bits as usize)) & super::bits::largest(bits) as u8
}

/// Packs rows of `len` codes into `row_bytes` bytes each.
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
    // A block may be much longer than the codes that exist: without memory for it, an error rather than an abort.
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
