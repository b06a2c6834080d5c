//! Kernels for neural networks, written with `fuse!`, for use or as examples.
//!
//! Most take `f32` or `f16`; all compute in `f32`. Weights are `[inputs, outputs]`, so that a layer is `x·w`. For
//! weights stored `[outputs, inputs]`, as PyTorch does, use the functions that end in `_t`. Functions inline into your
//! own `fuse!` blocks: `use fuse_kernels::linear;` at their head.
//!
//! # Errors
//! If shapes do not fit; it names the kernel, the argument, the expected and the found size.

mod attention;
mod elementwise;
mod layers;
mod losses;
mod norms;
pub mod optimizers;
mod pooling;
mod quantized;

pub use attention::*;
pub use elementwise::*;
#[doc(no_inline)]
pub use fuse_runtime::{Error, Float, Tensor};
pub use layers::*;
pub use losses::*;
pub use norms::*;
#[doc(no_inline)]
pub use optimizers::*;
pub use pooling::*;
pub use quantized::*;
