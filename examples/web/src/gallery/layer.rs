//! A linear layer with a residual connection.

use fuse_gpu::{Arg, Device, Error, Tensor1, Tensor2, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// A linear layer with bias, residual connection and activation: one dispatch.
    #[webnn]
    pub(super) fn layer(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }
}

fuse! {
    fn product(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }
    fn add_bias(x: f32[M, N], b: f32[N]) -> f32[M, N] { x + b }
    fn plus(x: f32[M, N], r: f32[M, N]) -> f32[M, N] { x + r }
    fn activate(x: f32[M, N]) -> f32[M, N] { relu(x) }
}

pub(super) static ENTRY: Entry = Entry {
    id: "layer",
    title: "relu(x·w + b + r)",
    summary: "A linear layer with bias and residual connection: the additions and the activation never leave the registers.",
    text: include_str!("layer.rs"),
    function: || &layer::FUNCTION,
    kernels: || layer::KERNELS,
    parts: 4,
    sample,
};

operands! {
    x: Tensor2<f32>, w: Tensor2<f32>, b: Tensor1<f32>, r: Tensor2<f32>;
    fused: layer(x, w, b, r).map(Output::Matrix),
    unfused: activate(&plus(&add_bias(&product(x, w)?, b)?, r)?).map(Output::Matrix),
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let n = size.of([128, 512, 1024]);
    let matrix = |seed| operand(device, seed, [n, n]);
    Ok(Box::new(Operands { x: matrix(1)?, w: matrix(2)?, b: operand(device, 3, [n])?, r: matrix(4)? }))
}
