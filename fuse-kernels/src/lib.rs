//! Ready kernels for neural networks, each written with `fuse!`, for use or as examples.
//!
//! Most are generic over the element type (`f32` or `f16`; every kernel computes in `f32`). Weights are `[inputs,
//! outputs]`, so that a layer is `x·w`. For weights stored `[outputs, inputs]`, as PyTorch does, use the functions that
//! end in `_t`. Every function inlines into your own `fuse!` blocks: `use fuse_kernels::linear;` at their head.
//!
//! # Errors
//! Every function returns an error if shapes do not fit. It names the kernel, the argument, the expected and the found size.

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
