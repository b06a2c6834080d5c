//! Weights that users already have, in the quantized formats of other toolchains, read as exact values.
//!
//! Input: bytes (or words) in memory. Output: `f32` values, borrowed views of the bytes, or quantized tensors for kernels.
//!
//! - [`gguf`] reads the container of llama.cpp: metadata, and tensors by name.
//! - [`blocks`] decodes and encodes the block types of ggml, which such files hold.
//! - [`packed`] reads and writes the packed arrays of GPTQ, AWQ, ONNX Runtime and BitNet, which are stored in
//!   containers of other formats (safetensors, ONNX) and are passed here as slices.
//! - [`import`] makes [`fuse_quantize::Quantized`] of all of these where it loses nothing: kernels then compute with the
//!   codes and scales that the other toolchain chose.
//!
//! Every input may be hostile: whatever it holds, the answer is a value or an error that says what was expected
//! and what was found. Nothing here panics on input, and nothing allocates for a count that a file only claims.
//!
//! Not here: file systems (except [`gguf::open`] natively), devices, kernels that compute with packed weights, and
//! quantization (`fuse-quantize`).

#![forbid(unsafe_code)]

pub mod blocks;
mod codes;
pub mod gguf;
pub mod import;
pub mod packed;
