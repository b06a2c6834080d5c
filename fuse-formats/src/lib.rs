//! Readers of weights in other toolchains' quantized formats, as exact values.
//!
//! Input: bytes (or words) in memory. Output: `f32` values, borrowed views, or quantized tensors for kernels.
//!
//! - [`gguf`] reads llama.cpp's container: metadata, and tensors by name.
//! - [`blocks`] decodes and encodes ggml's block types, which such files contain.
//! - [`packed`] reads and writes the packed arrays of GPTQ, AWQ, ONNX Runtime and BitNet, passed as slices. Their
//!   containers (safetensors, ONNX) are not read here.
//! - [`import`] converts them losslessly to [`fuse_quantize::Quantized`]: kernels compute with the original codes and
//!   scales.
//!
//! Every input may be hostile: the result is a value, or an error that names what was expected and found. Nothing here
//! panics on input, and no allocation trusts a count in a file.
//!
//! Not here: file systems (except [`gguf::open`] natively), devices, kernels, and quantization (`fuse-quantize`).

#![forbid(unsafe_code)]

pub mod blocks;
mod codes;
pub mod gguf;
pub mod import;
pub mod packed;
