//! A perceptron with one hidden layer.

use fuse_gpu::{Device, Error, Tensor0, Tensor1, Tensor2, fuse};

use crate::{
    Network,
    images::PIXELS,
    weights::{Weight, random},
};

fuse! {
    use fuse_gpu::kernels::optimizers::adamw_matrix;

    fn scores(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C], c: f32[C]) -> f32[B, C] {
        matmul(relu(matmul(x, w) + b), v) + c
    }

    /// Training step number `count`, from 0. Returns the loss of the batch; weights and moments are updated in place.
    pub fn step(
        x: f32[B, K], digits: i32[B], count: &mut f32[],
        w: &mut f32[K, H], b: &mut f32[H], v: &mut f32[H, C], c: &mut f32[C],
        wm: &mut f32[K, H], ws: &mut f32[K, H], vm: &mut f32[H, C], vs: &mut f32[H, C],
    ) -> f32 {
        let loss = mean(cross_entropy(scores(x, w, b, v, c), digits));
        let (dw, db, dv, dc) = grad(loss, wrt = [w, b, v, c]);
        let number = count + 1.0;
        (*w, *wm, *ws) = adamw_matrix(w, dw, wm, ws, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        (*v, *vm, *vs) = adamw_matrix(v, dv, vm, vs, 0.003, 0.9, 0.999, 1e-8, 0.03, number);
        *count = number;
        *b -= 0.1 * db;
        *c -= 0.1 * dc;
        loss
    }

    pub fn read(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C], c: f32[C]) -> i32[B] {
        argmax(scores(x, w, b, v, c), axis = 1)
    }
}

const HIDDEN: usize = 160;
const DIGITS: usize = 10;

pub(crate) struct Perceptron {
    count: Tensor0<f32>,
    w: Tensor2<f32>,
    b: Tensor1<f32>,
    v: Tensor2<f32>,
    c: Tensor1<f32>,
    of_w: [Tensor2<f32>; 2],
    of_v: [Tensor2<f32>; 2],
}

impl Network for Perceptron {
    const NAME: &'static str = "perceptron";

    fn new(device: &Device, seed: u64) -> Result<Self, Error> {
        let zeros = |shape| Tensor2::zeros(device, shape);
        Ok(Self {
            count: Tensor0::zeros(device, [])?,
            w: random(device, [PIXELS, HIDDEN], seed)?,
            b: Tensor1::zeros(device, [HIDDEN])?,
            v: random(device, [HIDDEN, DIGITS], seed + 1000)?,
            c: Tensor1::zeros(device, [DIGITS])?,
            of_w: [zeros([PIXELS, HIDDEN])?, zeros([PIXELS, HIDDEN])?],
            of_v: [zeros([HIDDEN, DIGITS])?, zeros([HIDDEN, DIGITS])?],
        })
    }

    fn step(&mut self, x: &Tensor2<f32>, digits: &Tensor1<i32>) -> Result<Tensor0<f32>, Error> {
        let Self { count, w, b, v, c, of_w: [wm, ws], of_v: [vm, vs] } = self;
        step(x, digits, count, w, b, v, c, wm, ws, vm, vs)
    }

    fn read(&self, x: &Tensor2<f32>) -> Result<Tensor1<i32>, Error> {
        read(x, &self.w, &self.b, &self.v, &self.c)
    }

    fn weights(&self) -> Result<Vec<Weight>, Error> {
        let Self { w, b, v, c, .. } = self;
        Ok(vec![Weight::matrix("w", w)?, Weight::vector("b", b)?, Weight::matrix("v", v)?, Weight::vector("c", c)?])
    }

    fn dispatches() -> usize {
        step::PLAN.groups.len()
    }
}
