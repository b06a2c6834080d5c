//! Lossless import of other toolchains' weights as [`Quantized`]: kernels compute with the original codes and scales.
//!
//! Output: a host tensor with groups along the input's width K, for kernels that dequantize on load (`q4[N, K]` with
//! `axis = 1`, `q4[K, N]`).
//!
//! | from | becomes | shape, packed axis | a group is |
//! |---|---|---|---|
//! | Q4_0, Q4_1 | `q4` | the tensor's, its last | 32 |
//! | Q5_0, Q5_1, Q8_0 | `q8` | the tensor's, its last | 32 |
//! | Q4_K, Q5_K | `q4`, `q8` | the tensor's, its last | 32 |
//! | Q2_K, Q3_K, Q6_K | `q2`, `q3`, `q8` | the tensor's, its last | 32, if neighboring runs of 16 are equal |
//! | TQ1_0, TQ2_0 | `q2` | the tensor's, its last | 256 |
//! | GPTQ of 2, 3, 4, 8 bits | `q2`, `q3`, `q4`, `q8` | `[K, N]`, 0 | the format's |
//! | AWQ | `q4` | `[K, N]`, 0 | the format's |
//! | `MatMulNBits` of 2, 4, 8 bits | `q2`, `q4`, `q8` | `[N, K]`, 1 | the format's |
//! | BitNet | `q2` | `[N, K]`, 1 | all of K |
//!
//! **Groups** span the packed axis, or are multiples of 32 that divide it. Other multiples of 32, whose last run is
//! shorter, become smaller groups that divide the axis. Runs of 16 (or 8, 4, 2, 1) become groups of 32 if their scales
//! and offsets are equal, as in zero tensors. Otherwise the result is [`Error::Runs`]: decode to `f32` and quantize
//! with [`fuse_quantize::quantize`].
//!
//! **Exactness.** [`Quantized::dequantize`] is bit-identical to the format's own decoder, except for the sign of zeros:
//! `-0.0` (a code at the zero point of a negative scale) may become `+0.0`. Scales are `f16`, times integers of at most
//! 7 bits in K-quants (or any `f32` with BitNet's codes 0, 1 and 2). So products of codes and scales are exact in
//! `f32`, and each format rounds at most once, in the same place. One exception: `MatMulNBits` with `f32` scales is
//! exact only if these have at most 16 significant bits, as `f16`, `bfloat16` and powers of two. Otherwise values
//! differ from the operator's by at most `3·2^(bits - 24)` times the scale, about 3e-6 with 4 bits.
//!
//! **Scales** are stored as `f16` if it holds all scales and offsets exactly, else as `f32`.
//!
//! ```
//! use fuse_formats::{blocks::{self, BlockType}, gguf::Gguf, import};
//! use fuse_quantize::Packing;
//!
//! // A file with one tensor, `w`: 2 rows of 32 inputs, as blocks of Q4_0.
//! let weights: Vec<f32> = (0..64).map(|i| (i as f32).sin()).collect();
//! let mut rows = vec![0; 2 * 18];
//! blocks::encode(BlockType::Q4_0, &weights, &mut rows)?;
//! let mut bytes = b"GGUF\x03\0\0\0".to_vec();
//! bytes.extend(1u64.to_le_bytes()); // tensors
//! bytes.extend(0u64.to_le_bytes()); // metadata
//! bytes.extend(1u64.to_le_bytes());
//! bytes.extend(b"w");
//! bytes.extend(2u32.to_le_bytes()); // dimensions, innermost first
//! bytes.extend(32u64.to_le_bytes());
//! bytes.extend(2u64.to_le_bytes());
//! bytes.extend(BlockType::Q4_0.id().to_le_bytes());
//! bytes.extend(0u64.to_le_bytes()); // where its blocks are
//! bytes.resize(bytes.len().next_multiple_of(32), 0);
//! bytes.extend(rows);
//!
//! let file = Gguf::parse(&bytes)?;
//! let tensor = file.tensor("w").ok_or("no such tensor")?;
//! let quantized = import::tensor(tensor)?;
//! assert_eq!((quantized.packing, &quantized.shape[..], quantized.axis), (Packing::Q4, &[2, 32][..], 1));
//! assert_eq!(quantized.dequantize(), tensor.to_f32()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not here: decoding to `f32` ([`blocks::decode`], [`packed`](crate::packed)), and quantization.

mod error;
mod groups;

use fuse_quantize::Quantized;

pub use error::Error;

use crate::{
    blocks::{self, BlockType},
    gguf::{self, Tensor},
    packed::{AwqArrays, AwqLayout, BitNetLayout, BitNetScale, GptqArrays, GptqLayout, NBitsArrays, NBitsLayout},
};

/// A GGUF tensor, packed along its last axis: the inputs of weights `[outputs, inputs]`.
///
/// # Errors
/// As [`blocks()`], naming the tensor.
pub fn tensor(tensor: &Tensor<'_>) -> Result<Quantized, Error> {
    let name = gguf::short(tensor.name());
    import_blocks(format!("tensor `{name}`"), tensor.block_type(), tensor.shape(), tensor.bytes())
}

/// Whole ggml blocks: the rows of a tensor of `shape`, packed along its last axis.
///
/// # Errors
/// [`Error::Type`] for a type without codes and scales, [`Error::Row`], [`Error::Bytes`] or [`Error::Empty`].
/// [`Error::Runs`] for Q2_K, Q3_K and Q6_K unless runs of 16 are equal in pairs. [`Error::Quantized`] for scales that
/// are not finite.
pub fn blocks(ty: BlockType, shape: &[usize], bytes: &[u8]) -> Result<Quantized, Error> {
    import_blocks("blocks".to_owned(), ty, shape, bytes)
}

fn import_blocks(what: String, ty: BlockType, shape: &[usize], bytes: &[u8]) -> Result<Quantized, Error> {
    let what = format!("{what} of {ty}");
    let &[.., row] = shape else { return Err(Error::Empty { what, shape: shape.to_vec() }) };
    let block_len = ty.block_len();
    if !row.is_multiple_of(block_len) {
        return Err(Error::Row { what, block_len, found: row });
    }
    let blocks = shape[..shape.len() - 1].iter().try_fold(row / block_len, |blocks, &size| blocks.checked_mul(size));
    let expected = blocks.and_then(|blocks| blocks.checked_mul(ty.block_bytes()));
    if expected != Some(bytes.len()) {
        return Err(Error::Bytes { what, shape: shape.to_vec(), expected, found: bytes.len() });
    }
    let Some(codes) = blocks::codes(ty, bytes) else { return Err(Error::Type { what }) };
    groups::quantized(what, codes, shape, shape.len() - 1)
}

/// A GPTQ matrix: `[K, N]`, packed along K.
///
/// # Errors
/// [`Error::Packed`] as for [`GptqLayout::decode`]. [`Error::RowOrder`] if `g_idx` reorders rows. [`Error::Runs`] for
/// groups other than all of K or a multiple of 32. [`Error::Quantized`] for scales that are not finite.
pub fn gptq(layout: &GptqLayout, arrays: &GptqArrays<'_>) -> Result<Quantized, Error> {
    let what = || "GPTQ matrix".to_owned();
    let codes = layout.codes(arrays).map_err(|error| Error::Packed { what: what(), error })?;
    for (row, &found) in arrays.g_idx.unwrap_or(&[]).iter().enumerate() {
        // Groups are below `i32::MAX`: `g_idx` was checked to name them.
        let expected = row / layout.group_size;
        if usize::try_from(found) != Ok(expected) {
            return Err(Error::RowOrder { what: what(), row, expected, found });
        }
    }
    groups::quantized(what(), codes, &[layout.k, layout.n], 0)
}

/// An AWQ matrix: `[K, N]`, packed along K.
///
/// # Errors
/// [`Error::Packed`] as for [`AwqLayout::decode`]. [`Error::Runs`] for groups other than all of K or a multiple of 32.
/// [`Error::Quantized`] for scales that are not finite.
pub fn awq(layout: &AwqLayout, arrays: &AwqArrays<'_>) -> Result<Quantized, Error> {
    let what = || "AWQ matrix".to_owned();
    let codes = layout.codes(arrays).map_err(|error| Error::Packed { what: what(), error })?;
    groups::quantized(what(), codes, &[layout.k, layout.n], 0)
}

/// A `MatMulNBits` matrix: `[N, K]`, packed along K. Exact for scales of at most 16 significant bits (see the
/// [module](self)).
///
/// # Errors
/// [`Error::Packed`] as for [`NBitsLayout::decode`]. [`Error::Runs`] for blocks of 16 unless equal in pairs, or if the
/// last block is no multiple of 32. [`Error::Range`] for scales whose products with codes are not finite.
/// [`Error::Quantized`] for scales that are not finite.
pub fn n_bits(layout: &NBitsLayout, arrays: &NBitsArrays<'_>) -> Result<Quantized, Error> {
    let what = || "MatMulNBits matrix".to_owned();
    let codes = layout.codes(arrays).map_err(|error| Error::Packed { what: what(), error })?;
    groups::quantized(what(), codes, &[layout.n, layout.k], 1)
}

/// A BitNet matrix: `[out, in]`, packed along the inputs, with the matrix's scale for each row.
///
/// # Errors
/// [`Error::Packed`] as for [`BitNetLayout::decode`]. [`Error::Range`] for a scale above a third of the largest number.
/// [`Error::Quantized`] if the scale, or its required reciprocal, is not finite.
pub fn bitnet(layout: &BitNetLayout, packed: &[u8], scale: BitNetScale) -> Result<Quantized, Error> {
    let what = || "BitNet matrix".to_owned();
    let codes = layout.codes(packed, scale).map_err(|error| Error::Packed { what: what(), error })?;
    groups::quantized(what(), codes, &[layout.out_features, layout.in_features], 1)
}
