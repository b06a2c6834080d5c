//! Attention over several heads.

use fuse_gpu::{Arg, Device, Error, Tensor3, fuse};

use super::{Entry, Output, Sample, Size, operand};

fuse! {
    /// Attention of `H` heads of 64 features: one dispatch that never stores a score.
    #[webnn]
    pub(super) fn attention(q: f32[H, S, 64], k: f32[H, S, 64], v: f32[H, S, 64]) -> f32[H, S, 64] {
        matmul(softmax(matmul(q, transpose(k)) / 8.0), v)
    }
}

fuse! {
    fn scores(q: f32[H, S, 64], k: f32[H, S, 64]) -> f32[H, S, S] { matmul(q, transpose(k)) }
    fn scale(x: f32[H, S, S]) -> f32[H, S, S] { x / 8.0 }
    fn weights(x: f32[H, S, S]) -> f32[H, S, S] { softmax(x) }
    fn mix(w: f32[H, S, S], v: f32[H, S, 64]) -> f32[H, S, 64] { matmul(w, v) }
}

pub(super) static ENTRY: Entry = Entry {
    id: "attention",
    title: "softmax(q·kᵀ / 8)·v",
    summary: "Attention of four heads: keys and values stream through workgroup memory, and no score is ever stored.",
    text: include_str!("attention.rs"),
    function: || &attention::FUNCTION,
    kernels: || attention::KERNELS,
    parts: 4,
    sample,
};

operands! {
    q: Tensor3<f32>, k: Tensor3<f32>, v: Tensor3<f32>;
    fused: attention(q, k, v).map(Output::Heads),
    unfused: mix(&weights(&scale(&scores(q, k)?)?)?, v).map(Output::Heads),
}

fn sample(device: &Device, size: Size) -> Result<Box<dyn Sample>, Error> {
    let tensor = |seed| operand(device, seed, [4, size.of([64, 256, 1024]), 64]);
    Ok(Box::new(Operands { q: tensor(1)?, k: tensor(2)?, v: tensor(3)? }))
}
