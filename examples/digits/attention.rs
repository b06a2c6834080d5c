//! A transformer block: attention between the rows of the image, and a feed-forward block.

use fuse_gpu::{Device, Error, Tensor0, Tensor1, Tensor2, fuse};

use crate::{
    Network,
    weights::{Weight, random},
};

fuse! {
    use fuse_gpu::kernels::optimizers::adamw_matrix;

    fn norm(x: f32[B, S, W]) -> f32[B, S, W] {
        x * rsqrt(mean(x * x, axis = 2, keepdim = true) + 1e-6)
    }

    /// Logits of the ten digits, from the mean over the rows.
    fn scores(
        x: f32[B, 64], e: f32[8, 32], p: f32[8, 32], qkv: f32[32, 96], out: f32[32, 32],
        up: f32[32, 64], down: f32[64, 32], head: f32[32, C],
    ) -> f32[B, C] {
        let rows = matmul(reshape(x, [B, 8, 8]), e) + p;
        let (q, k, v) = split(matmul(norm(rows), qkv), axis = 2, parts = 3);
        let seen = rows + matmul(matmul(softmax(matmul(q, transpose(k)) / sqrt(32.0)), v), out);
        let thought = seen + matmul(gelu(matmul(norm(seen), up)), down);
        matmul(squeeze(norm(mean(thought, axis = 1, keepdim = true)), axis = 1), head)
    }

    /// Training step number `count`, from 0. Returns the loss of the batch; weights and moments are updated in place.
    pub fn step(
        x: f32[B, 64], digits: i32[B], count: &mut f32[],
        e: &mut f32[8, 32], p: &mut f32[8, 32], qkv: &mut f32[32, 96], out: &mut f32[32, 32],
        up: &mut f32[32, 64], down: &mut f32[64, 32], head: &mut f32[32, C],
        m1: &mut f32[8, 32], m2: &mut f32[8, 32], m3: &mut f32[32, 96], m4: &mut f32[32, 32],
        m5: &mut f32[32, 64], m6: &mut f32[64, 32], m7: &mut f32[32, C],
        s1: &mut f32[8, 32], s2: &mut f32[8, 32], s3: &mut f32[32, 96], s4: &mut f32[32, 32],
        s5: &mut f32[32, 64], s6: &mut f32[64, 32], s7: &mut f32[32, C],
    ) -> f32 {
        let loss = mean(cross_entropy(scores(x, e, p, qkv, out, up, down, head), digits));
        let (g1, g2, g3, g4, g5, g6, g7) = grad(loss, wrt = [e, p, qkv, out, up, down, head]);
        let number = count + 1.0;
        (*e, *m1, *s1) = adamw_matrix(e, g1, m1, s1, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*p, *m2, *s2) = adamw_matrix(p, g2, m2, s2, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*qkv, *m3, *s3) = adamw_matrix(qkv, g3, m3, s3, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*out, *m4, *s4) = adamw_matrix(out, g4, m4, s4, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*up, *m5, *s5) = adamw_matrix(up, g5, m5, s5, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*down, *m6, *s6) = adamw_matrix(down, g6, m6, s6, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*head, *m7, *s7) = adamw_matrix(head, g7, m7, s7, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        *count = number;
        loss
    }

    pub fn read(
        x: f32[B, 64], e: f32[8, 32], p: f32[8, 32], qkv: f32[32, 96], out: f32[32, 32],
        up: f32[32, 64], down: f32[64, 32], head: f32[32, C],
    ) -> i32[B] {
        argmax(scores(x, e, p, qkv, out, up, down, head), axis = 1)
    }
}

/// In the order of the functions' parameters.
const WEIGHTS: [(&str, [usize; 2]); 7] = [
    ("e", [8, 32]),
    ("p", [8, 32]),
    ("qkv", [32, 96]),
    ("out", [32, 32]),
    ("up", [32, 64]),
    ("down", [64, 32]),
    ("head", [32, 10]),
];

pub(crate) struct Attention {
    count: Tensor0<f32>,
    weights: [Tensor2<f32>; 7],
    means: [Tensor2<f32>; 7],
    squares: [Tensor2<f32>; 7],
}

fn seven(make: impl Fn(u64, [usize; 2]) -> Result<Tensor2<f32>, Error>) -> Result<[Tensor2<f32>; 7], Error> {
    let [a, b, c, d, e, f, g] = [0, 1, 2, 3, 4, 5, 6].map(|i| make(i as u64, WEIGHTS[i].1));
    Ok([a?, b?, c?, d?, e?, f?, g?])
}

impl Network for Attention {
    const NAME: &'static str = "attention";

    fn new(device: &Device, seed: u64) -> Result<Self, Error> {
        let zeros = |_, shape| Tensor2::zeros(device, shape);
        Ok(Self {
            count: Tensor0::zeros(device, [])?,
            weights: seven(|number, shape| random(device, shape, seed + 1000 * number))?,
            means: seven(zeros)?,
            squares: seven(zeros)?,
        })
    }

    fn step(&mut self, x: &Tensor2<f32>, digits: &Tensor1<i32>) -> Result<Tensor0<f32>, Error> {
        let Self { count, weights, means, squares } = self;
        let [e, p, qkv, out, up, down, head] = weights;
        let [m1, m2, m3, m4, m5, m6, m7] = means;
        let [s1, s2, s3, s4, s5, s6, s7] = squares;
        step(
            x, digits, count, e, p, qkv, out, up, down, head, //
            m1, m2, m3, m4, m5, m6, m7, s1, s2, s3, s4, s5, s6, s7,
        )
    }

    fn read(&self, x: &Tensor2<f32>) -> Result<Tensor1<i32>, Error> {
        let [e, p, qkv, out, up, down, head] = &self.weights;
        read(x, e, p, qkv, out, up, down, head)
    }

    fn weights(&self) -> Result<Vec<Weight>, Error> {
        WEIGHTS.iter().zip(&self.weights).map(|((name, _), tensor)| Weight::matrix(name, tensor)).collect()
    }

    fn dispatches() -> usize {
        step::PLAN.groups.len()
    }
}
