//! Ready kernels for neural networks, each written with `fuse!`: use them, or read them as examples.
//!
//! All of them are generic over the element type (`f32` or `f16`; sums are in `f32`). Weights are `[inputs,
//! outputs]`, so that a layer is `x·w`; for weights stored `[outputs, inputs]`, as PyTorch does, there are the
//! functions that end in `_t`.

use fuse_macros::fuse;
#[doc(no_inline)]
pub use fuse_runtime::{Error, Float, Tensor};

fuse! {
    /// A linear layer: `x·w + b`.
    pub fn linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        matmul(x, w) + b
    }

    /// A linear layer with weights of shape `[outputs, inputs]`: `x·wᵀ + b`.
    pub fn linear_t<T: Float>(x: T[M, K], w: T[N, K], b: T[N]) -> T[M, N] {
        matmul(x, transpose(w)) + b
    }

    /// A linear layer with ReLU: `relu(x·w + b)`.
    pub fn linear_relu<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        relu(linear(x, w, b))
    }

    /// A linear layer with a residual connection: `x·w + b + r`.
    pub fn linear_residual<T: Float>(x: T[M, K], w: T[K, N], b: T[N], r: T[M, N]) -> T[M, N] {
        linear(x, w, b) + r
    }

    /// The feed-forward block of a transformer layer with weights of shape `[outputs, inputs]`, before its layer
    /// norm: `gelu(x·w1ᵀ + b1)·w2ᵀ + b2 + x` (Devlin et al. 2019; exact `gelu`).
    pub fn feed_forward_t<T: Float>(x: T[S, E], w1: T[H, E], b1: T[H], w2: T[E, H], b2: T[E]) -> T[S, E] {
        linear_t(gelu(linear_t(x, w1, b1)), w2, b2) + x
    }

    /// The gated feed-forward block without biases: `(silu(x·g) * (x·u))·d` (Shazeer 2020, "SwiGLU").
    pub fn swiglu<T: Float>(x: T[S, E], g: T[E, H], u: T[E, H], d: T[H, E]) -> T[S, E] {
        matmul(silu(matmul(x, g)) * matmul(x, u), d)
    }
}
