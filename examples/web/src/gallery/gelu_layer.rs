//! The first half of a transformer's feed-forward block.

use fuse_gpu::{Arg, Device, Error, Tensor1, Tensor2, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// The first half of a feed-forward block, with weights as PyTorch stores them: one dispatch.
    #[webnn]
    pub(super) fn gelu_layer(x: f32[M, K], w: f32[N, K], b: f32[N]) -> f32[M, N] {
        gelu(matmul(x, transpose(w)) + b)
    }
}

fuse! {
    fn product(x: f32[M, K], w: f32[N, K]) -> f32[M, N] { matmul(x, transpose(w)) }
    fn add_bias(x: f32[M, N], b: f32[N]) -> f32[M, N] { x + b }
    fn activate(x: f32[M, N]) -> f32[M, N] { gelu(x) }
}

pub(super) static ENTRY: Entry = Entry {
    id: "gelu_layer",
    title: "gelu(x·wᵀ + b)",
    summary: "The first half of a transformer's feed-forward block; the transposition is only another order of reading.",
    text: include_str!("gelu_layer.rs"),
    function: || &gelu_layer::FUNCTION,
    kernels: || gelu_layer::KERNELS,
    parts: 3,
    sample,
};

operands! {
    x: Tensor2<f32>, w: Tensor2<f32>, b: Tensor1<f32>;
    fused: gelu_layer(x, w, b).map(Output::Matrix),
    unfused: activate(&add_bias(&product(x, w)?, b)?).map(Output::Matrix),
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let (m, k) = (size.of([64, 256, 1024]), size.of([96, 384, 768]));
    let n = 4 * k;
    Ok(Box::new(Operands {
        x: operand(device, 1, [m, k])?,
        w: operand(device, 2, [n, k])?,
        b: operand(device, 3, [n])?,
    }))
}
