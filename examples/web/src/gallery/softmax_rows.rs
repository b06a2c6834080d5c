//! Softmax of rows.

use fuse_gpu::{Arg, Device, Error, Tensor2, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// Probabilities of rows: one dispatch, with the largest element taken off first.
    #[webnn]
    pub(super) fn softmax_rows(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }
}

fuse! {
    fn largest(x: f32[M, N]) -> f32[M, 1] { max(x, axis = 1, keepdim = true) }
    fn lower(x: f32[M, N], m: f32[M, 1]) -> f32[M, N] { x - m }
    fn raise(x: f32[M, N]) -> f32[M, N] { exp(x) }
    fn total(x: f32[M, N]) -> f32[M, 1] { sum(x, axis = 1, keepdim = true) }
    fn divide(x: f32[M, N], t: f32[M, 1]) -> f32[M, N] { x / t }
}

pub(super) static ENTRY: Entry = Entry {
    id: "softmax_rows",
    title: "softmax(x)",
    summary: "Probabilities of rows: five passes over memory become one.",
    text: include_str!("softmax_rows.rs"),
    function: || &softmax_rows::FUNCTION,
    kernels: || softmax_rows::KERNELS,
    parts: 5,
    sample,
};

operands! {
    x: Tensor2<f32>;
    fused: softmax_rows(x).map(Output::Matrix),
    unfused: {
        let raised = raise(&lower(x, &largest(x)?)?)?;
        divide(&raised, &total(&raised)?).map(Output::Matrix)
    },
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let shape = [size.of([64, 1024, 4096]), size.of([256, 1024, 4096])];
    Ok(Box::new(Operands { x: operand(device, 1, shape)? }))
}
