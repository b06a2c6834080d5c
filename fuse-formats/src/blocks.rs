//! ggml's blocks: bytes to `f32` values and back.
//!
//! Input of [`decode`]: whole blocks of one [`BlockType`]. Output: their values in order. The formulas are those of
//! ggml's reference functions (`dequantize_row_*`, `quantize_row_*_ref`), with the same `f32` operations in the same
//! order: bit-identical to ggml without fused multiply-adds.

mod block;
mod block_type;
mod coded;
mod encode;
mod k_quants;
mod legacy;
mod ternary;

use std::fmt;

use half::{bf16, f16};
use thiserror::Error;

pub use block_type::BlockType;
pub(crate) use coded::codes;
pub use encode::encode;

/// ggml's `QK_K`.
const SUPER: usize = 256;

/// ggml's `QK4_0` to `QK8_0`.
const SMALL: usize = 32;

/// Error of decoding or encoding blocks.
#[derive(Clone, Error, PartialEq, Eq)]
pub enum Error {
    /// The bytes are not whole blocks.
    #[error("{ty}: expected a multiple of {block_bytes} bytes, found {found}")]
    PartialBlock {
        /// Type of the blocks.
        ty: BlockType,
        /// Bytes of one block.
        block_bytes: usize,
        /// Bytes that were passed.
        found: usize,
    },
    /// The values do not fill whole blocks.
    #[error("{ty}: expected a multiple of {block_len} values, found {found}")]
    PartialValues {
        /// Type of the blocks.
        ty: BlockType,
        /// Values of one block.
        block_len: usize,
        /// Values that were passed.
        found: usize,
    },
    /// The output slice does not match the input.
    #[error("{ty}: expected room for {expected} results, found {found}")]
    Output {
        /// Type of the blocks.
        ty: BlockType,
        /// Elements (or bytes) of the result.
        expected: usize,
        /// Length of the output slice.
        found: usize,
    },
    /// No decoder for this type.
    #[error("{ty}: expected a type that can be decoded to f32, found one that can only be listed")]
    NoDecoder {
        /// Type.
        ty: BlockType,
    },
    /// No encoder for this type.
    #[error("{ty}: expected Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0 to encode to")]
    NoEncoder {
        /// Type.
        ty: BlockType,
    },
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Decodes n blocks of [`BlockType::block_bytes`] bytes to n times [`BlockType::block_len`] values.
///
/// `f16` values are little endian. Scales that are not finite are decoded as they are.
///
/// # Errors
/// [`Error::NoDecoder`], [`Error::PartialBlock`], or [`Error::Output`] if `out` has another length.
pub fn decode(ty: BlockType, bytes: &[u8], out: &mut [f32]) -> Result<(), Error> {
    if !ty.is_decodable() {
        return Err(Error::NoDecoder { ty });
    }
    let block_bytes = ty.block_bytes();
    if !bytes.len().is_multiple_of(block_bytes) {
        return Err(Error::PartialBlock { ty, block_bytes, found: bytes.len() });
    }
    // Saturates only at lengths that `out` cannot have.
    let expected = (bytes.len() / block_bytes).saturating_mul(ty.block_len());
    if out.len() != expected {
        return Err(Error::Output { ty, expected, found: out.len() });
    }
    match ty {
        BlockType::F32 => each(bytes, out, |block, out: &mut [f32; 1]| out[0] = f32::from_le_bytes(*block)),
        BlockType::F16 => each(bytes, out, |block, out: &mut [f32; 1]| out[0] = half(*block)),
        BlockType::Bf16 => {
            each(bytes, out, |block, out: &mut [f32; 1]| out[0] = bf16::from_le_bytes(*block).to_f32());
        }
        _ if coded::decode(ty, bytes, out) => {}
        _ => return Err(Error::NoDecoder { ty }),
    }
    Ok(())
}

fn each<const BYTES: usize, const LEN: usize>(
    bytes: &[u8],
    out: &mut [f32],
    formula: impl Fn(&[u8; BYTES], &mut [f32; LEN]),
) {
    let (blocks, _) = bytes.as_chunks::<BYTES>();
    let (outs, _) = out.as_chunks_mut::<LEN>();
    for (block, out) in blocks.iter().zip(outs) {
        formula(block, out);
    }
}

fn half(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

fn half_at<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> f32 {
    half([block[at], block[at + 1]])
}
