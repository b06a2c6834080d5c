//! A layer norm with an activation.

use fuse_gpu::{Arg, Device, Error, Tensor1, Tensor2, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// A layer norm with scale, shift and activation: one dispatch that reads each row once.
    #[webnn]
    pub(super) fn norm_gelu(x: f32[M, N], gamma: f32[N], beta: f32[N]) -> f32[M, N] {
        gelu(layer_norm(x, gamma, beta))
    }
}

fuse! {
    fn row_mean(x: f32[M, N]) -> f32[M, 1] { mean(x, axis = 1, keepdim = true) }
    fn center(x: f32[M, N], m: f32[M, 1]) -> f32[M, N] { x - m }
    fn square(x: f32[M, N]) -> f32[M, N] { x * x }
    fn deviation(v: f32[M, 1]) -> f32[M, 1] { rsqrt(v + 1e-5) }
    fn normalize(x: f32[M, N], d: f32[M, 1]) -> f32[M, N] { x * d }
    fn scale(x: f32[M, N], gamma: f32[N]) -> f32[M, N] { x * gamma }
    fn shift(x: f32[M, N], beta: f32[N]) -> f32[M, N] { x + beta }
    fn activate(x: f32[M, N]) -> f32[M, N] { gelu(x) }
}

pub(super) static ENTRY: Entry = Entry {
    id: "norm_gelu",
    title: "gelu(layer_norm(x, γ, β))",
    summary: "A layer norm with its activation: mean and variance are found while the row is at hand.",
    text: include_str!("norm_gelu.rs"),
    function: || &norm_gelu::FUNCTION,
    kernels: || norm_gelu::KERNELS,
    parts: 9,
    sample,
};

operands! {
    x: Tensor2<f32>, gamma: Tensor1<f32>, beta: Tensor1<f32>;
    fused: norm_gelu(x, gamma, beta).map(Output::Matrix),
    unfused: {
        let centered = center(x, &row_mean(x)?)?;
        let deviation = deviation(&row_mean(&square(&centered)?)?)?;
        activate(&shift(&scale(&normalize(&centered, &deviation)?, gamma)?, beta)?).map(Output::Matrix)
    },
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let (rows, width) = (size.of([128, 1024, 8192]), size.of([384, 768, 1024]));
    Ok(Box::new(Operands {
        x: operand(device, 1, [rows, width])?,
        gamma: operand(device, 2, [width])?,
        beta: operand(device, 3, [width])?,
    }))
}
