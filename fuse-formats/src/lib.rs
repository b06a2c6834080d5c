//! Weights that users already have, in the quantised formats of other toolchains, read as exact values.
//!
//! Input: bytes (or words) in memory. Output: `f32` values, or borrowed views of the bytes.
//!
//! - [`gguf`] reads the container of llama.cpp: metadata, and tensors by name.
//! - [`blocks`] decodes and encodes the block types of ggml, which such files hold.
//! - [`packed`] reads and writes the packed arrays of GPTQ, AWQ, ONNX Runtime and BitNet, which are stored in
//!   containers of other formats (safetensors, ONNX) and are passed here as slices.
//!
//! Every input may be hostile: whatever it holds, the answer is a value or an error that says what was expected
//! and what was found. Nothing here panics on input, and nothing allocates for a count that a file only claims.
//!
//! Not here: file systems (except [`gguf::open`] natively), devices, and kernels that compute with packed weights.

#![forbid(unsafe_code)]

pub mod blocks;
pub mod gguf;
pub mod packed;
