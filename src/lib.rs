#![doc = include_str!("../README.md")]

// `fuse!` names this crate by its path, also within this crate and its doctests.
extern crate self as fuse_gpu;

/// Lazy tensors: code that looks eager, whose operations are recorded, fused and compiled when a value is asked for.
#[cfg(feature = "auto")]
#[doc(inline)]
pub use fuse_auto as auto;
#[cfg(feature = "kernels")]
#[doc(inline)]
pub use fuse_kernels as kernels;
/// Gradients of as many layers as a program likes:
///
/// ```no_run
/// use fuse_gpu::{Error, Tensor2, fuse};
///
/// fuse! {
///     #[differentiable]
///     pub fn layer(x: f32[B, H], w: f32[H, H]) -> f32[B, H] {
///         x + tanh(matmul(x, w))
///     }
///
///     #[differentiable(x)]
///     pub fn loss(x: f32[B, H], y: f32[B, H]) -> f32 {
///         mean((x - y) * (x - y))
///     }
/// }
///
/// fn step(mut x: Tensor2<f32>, y: &Tensor2<f32>, weights: &mut [Tensor2<f32>]) -> Result<(), Error> {
///     let mut pullbacks = vec![];
///     for w in weights.iter() {
///         let (next, pullback) = layer::pullback(&x, w)?;
///         pullbacks.push(pullback);
///         x = next;
///     }
///     let (_, mut gradient) = loss::value_and_grad(&x, y)?;
///     for (w, pullback) in weights.iter_mut().zip(pullbacks).rev() {
///         let (dx, dw) = pullback.apply(&gradient)?;
///         *w = fuse!(w - 0.1 * dw)?;
///         gradient = dx;
///     }
///     Ok(())
/// }
/// ```
#[doc(inline)]
pub use fuse_macros::fuse;
#[doc(inline)]
pub use fuse_runtime::*;
