//! Pointwise operations.

use fuse_gpu::{Arg, Device, Error, Tensor2, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// Three pointwise operations: one dispatch, and no intermediate value is materialized.
    #[webnn]
    pub(super) fn gate(a: f32[M, N], b: f32[M, N], c: f32[M, N]) -> f32[M, N] {
        sigmoid(a * b + c)
    }
}

fuse! {
    fn multiply(a: f32[M, N], b: f32[M, N]) -> f32[M, N] { a * b }
    fn plus(x: f32[M, N], c: f32[M, N]) -> f32[M, N] { x + c }
    fn squash(x: f32[M, N]) -> f32[M, N] { sigmoid(x) }
}

pub(super) static ENTRY: Entry = Entry {
    id: "gate",
    title: "sigmoid(a·b + c)",
    summary: "Three pointwise operations: what limits them is memory, so one pass instead of three is what counts.",
    text: include_str!("gate.rs"),
    function: || &gate::FUNCTION,
    kernels: || gate::KERNELS,
    parts: 3,
    sample,
};

operands! {
    a: Tensor2<f32>, b: Tensor2<f32>, c: Tensor2<f32>;
    fused: gate(a, b, c).map(Output::Matrix),
    unfused: squash(&plus(&multiply(a, b)?, c)?).map(Output::Matrix),
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let n = size.of([512, 2048, 4096]);
    let matrix = |seed| operand(device, seed, [n, n]);
    Ok(Box::new(Operands { a: matrix(1)?, b: matrix(2)?, c: matrix(3)? }))
}
