//! all-MiniLM-L6-v2 as a library: texts in, embeddings out, every kernel compiled by `fuse!`.
//!
//! Data flow: texts -> tokens (`tokens`) -> padded batches (`batch`) -> launches (`model`, with the kernels of
//! `encoder` and the weights of `weights`) -> embeddings in the order of the texts (`embedder`), which `ranking`
//! compares.
//!
//! `host` is the same encoder in plain `f32`; `codes` stores quantized layers in files, and `quantized` runs them.
//!
//! Nothing here blocks or touches files, so the program of `examples/minilm` and the page of `examples/web` share it.

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
