//! Readers of weights in other toolchains' quantized formats, as exact values.
//!
//! Input: bytes (or words) in memory. Output: `f32` values, borrowed views, or quantized tensors for kernels.
//!
//! - [`gguf`] reads llama.cpp's container: metadata, and tensors by name.
//! - [`blocks`] decodes and encodes ggml's block types, which such files contain.
//! - [`packed`] reads and writes the arrays of GPTQ, AWQ, ONNX Runtime and BitNet, but not their containers.
//! - [`import`] converts them losslessly to [`fuse_quantize::Quantized`]: kernels compute with the original codes and
//!   scales.
//!
//! Every input may be hostile: errors name what was expected and found, nothing panics, and no allocation trusts a
//! count. Not here: file systems (except [`gguf::open`] natively), devices, kernels, and quantization.

#![forbid(unsafe_code)]

pub mod blocks;
mod codes;
pub mod gguf;
pub mod import;
pub mod packed;
