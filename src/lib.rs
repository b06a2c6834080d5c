#![doc = include_str!("../README.md")]

// `fuse!` names this crate by its path, even within the crate and its doctests.
extern crate self as fuse_gpu;

/// Lazy tensors: operations look eager, but are recorded, fused and compiled when a value is needed.
///
/// ```
/// # #[cfg(feature = "jit")] {
/// use fuse_gpu::{Device, Tensor1, Tensor2, auto::*};
///
/// # fn main() -> Result<(), Error> {
/// let device = Device::blocking()?;
/// let x = LazyTensor::from(Tensor1::from_vec(&device, vec![1.0f32, 2.0, 3.0], [3])?);
/// let y = LazyTensor::from(Tensor1::from_vec(&device, vec![4.0f32, -5.0, 6.0], [3])?);
///
/// // Both operations are one kernel, which runs when the values are asked for.
/// let z = x.add(&y)?.relu()?;
/// assert_eq!(z.to_vec_blocking::<f32>()?, [5.0, 0.0, 9.0]);
///
/// // Fusions that were applied.
/// let told = stats(&device);
/// let pattern = FusionPattern::BinaryActivation { binary_op: BinaryOp::Add, activation: Activation::Relu };
/// assert_eq!((told.applied, told.by_pattern[&pattern]), (1, 1));
/// println!("Total fusions applied: {}", told.summary().total_fusions);
/// if let Some(speedup) = told.summary().average_speedup {
///     println!("Average speedup: {speedup:.2}x");
/// }
///
/// // Restrict fusion to this kind, and to tensors of at least 1000 elements.
/// configure(&device, FusionConfig {
///     min_tensor_size: 1000,
///     enabled_patterns: Some([pattern].into()),
///     ..FusionConfig::default()
/// });
/// # configure(&device, FusionConfig::default());
///
/// // A value that is used twice, and one without a handle.
/// let a_plus_b = x.add(&y)?;
/// let result = a_plus_b.mul(&x)?;
/// assert_eq!(result.to_vec_blocking::<f32>()?, [5.0, -6.0, 27.0]);
///
/// // Operations by name.
/// let a = LazyTensor::from(Tensor2::full(&device, 0.5f32, [2, 3])?);
/// let b = LazyTensor::from(Tensor2::full(&device, -2.0f32, [3, 4])?);
/// let linear = execute_fused(&[&a, &b], &["matmul", "relu"])?; // relu(a·b)
/// assert_eq!(linear.to_vec_blocking::<f32>()?, [0.0; 8]);
/// let sum = execute_fused(&[&x, &y, &x], &["add", "multiply"])?; // (x + y)·x
/// assert_eq!(sum.to_vec_blocking::<f32>()?, [5.0, -6.0, 27.0]);
/// let custom = ["multiply", "add", "sigmoid"];
/// assert!(create_pattern(&custom));
/// let gate = execute_fused(&[&x, &y, &x], &custom)?; // sigmoid(x·y + x)
/// assert!(gate.to_vec_blocking::<f32>()?[0] > 0.99);
/// # Ok(())
/// # }
/// # main().unwrap();
/// # }
/// ```
#[cfg(feature = "auto")]
#[doc(inline)]
pub use fuse_auto as auto;
#[cfg(feature = "kernels")]
#[doc(inline)]
pub use fuse_kernels as kernels;
/// Gradients through any number of layers:
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
