//! all-MiniLM-L6-v2 as a library: texts in, embeddings out, every kernel compiled by `fuse!`.
//!
//! Data flow: texts -> tokens (`tokens`) -> padded batches (`batch`) -> launches (`model`, with kernels of `encoder`
//! and `weights`) -> embeddings in input order (`embedder`), which `ranking` compares.
//!
//! `host` is the encoder in `f32`; `codes` stores quantized layers, and `quantized` runs them. Nothing here blocks or
//! touches files: `examples/minilm` and `examples/web` share it.

pub mod batch;
#[cfg(feature = "quantized")]
pub mod codes;
pub mod embedder;
pub mod encoder;
pub mod host;
pub mod model;
#[cfg(feature = "quantized")]
pub mod quantized;
pub mod ranking;
pub mod tokens;
pub mod weights;

pub use embedder::{Embedder, Precision};
