//! The training step of `examples/digits` with lazy tensors, against the same step in `fuse!`.

use fuse_gpu::{
    Device, Tensor1, Tensor2,
    auto::{Error, LazyTensor, eval_all, explain, grad, stats},
    fuse,
};

use super::{assert_near, device};

const PIXELS: usize = 64;
const HIDDEN: usize = 160;
const DIGITS: usize = 10;
const BATCH: usize = 128;

const RATE: f32 = 0.003;
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPS: f32 = 1e-8;
const DECAY: f32 = 0.03;

fuse! {
    /// AdamW; the host computes the bias corrections `1 - β^step`.
    fn adamw(
        p: f32[M, N], g: f32[M, N], m: f32[M, N], s: f32[M, N], c1: f32, c2: f32,
    ) -> (f32[M, N], f32[M, N], f32[M, N]) {
        let first = 0.9 * m + 0.1 * g;
        let second = 0.999 * s + 0.001 * g * g;
        (p * (1.0 - 0.003 * 0.03) - 0.003 * ((first / c1) / (sqrt(second / c2) + 1e-8)), first, second)
    }

    fn step(
        x: f32[B, K], digits: i32[B],
        w: f32[K, H], b: f32[H], v: f32[H, C], c: f32[C],
        wm: f32[K, H], ws: f32[K, H], vm: f32[H, C], vs: f32[H, C], c1: f32, c2: f32,
    ) -> (f32, f32[K, H], f32[H], f32[H, C], f32[C], f32[K, H], f32[K, H], f32[H, C], f32[H, C]) {
        let scores = matmul(relu(matmul(x, w) + b), v) + c;
        let loss = mean(cross_entropy(scores, digits));
        let (dw, db, dv, dc) = grad(loss, wrt = [w, b, v, c]);
        let (w2, wm2, ws2) = adamw(w, dw, wm, ws, c1, c2);
        let (v2, vm2, vs2) = adamw(v, dv, vm, vs, c1, c2);
        (loss, w2, b - 0.1 * db, v2, c - 0.1 * dc, wm2, ws2, vm2, vs2)
    }
}

struct Perceptron {
    w: LazyTensor,
    b: LazyTensor,
    v: LazyTensor,
    c: LazyTensor,
    of_w: [LazyTensor; 2],
    of_v: [LazyTensor; 2],
    steps: i32,
}

fn adamw_lazily(
    p: &LazyTensor,
    g: &LazyTensor,
    [m, s]: &[LazyTensor; 2],
    step: i32,
) -> Result<(LazyTensor, [LazyTensor; 2]), Error> {
    let (c1, c2) = (1.0 - BETA1.powi(step), 1.0 - BETA2.powi(step));
    let first = BETA1 * m + (1.0 - BETA1) * g;
    let second = BETA2 * s + (1.0 - BETA2) * g * g;
    let update = (&first / c1) / ((&second / c2).sqrt()? + EPS);
    Ok((p * (1.0 - RATE * DECAY) - RATE * update, [first, second]))
}

impl Perceptron {
    fn scores(&self, x: &LazyTensor) -> Result<LazyTensor, Error> {
        x.matmul(&self.w)?.add(&self.b)?.relu()?.matmul(&self.v)?.add(&self.c)
    }

    fn next(&self, x: &LazyTensor, digits: &LazyTensor) -> Result<(LazyTensor, Self), Error> {
        let loss = self.scores(x)?.cross_entropy(digits, 1)?.mean(())?;
        let gradients = grad(&loss, &[&self.w, &self.b, &self.v, &self.c])?;
        let [dw, db, dv, dc] = &gradients[..] else { panic!("a gradient for each") };
        let steps = self.steps + 1;
        let (w, of_w) = adamw_lazily(&self.w, dw, &self.of_w, steps)?;
        let (v, of_v) = adamw_lazily(&self.v, dv, &self.of_v, steps)?;
        let next = Self { w, b: &self.b - 0.1 * db, v, c: &self.c - 0.1 * dc, of_w, of_v, steps };
        Ok((loss, next))
    }

    fn values<'s>(&'s self, loss: &'s LazyTensor) -> [&'s LazyTensor; 9] {
        let Self { w, b, v, c, of_w: [wm, ws], of_v: [vm, vs], .. } = self;
        [loss, w, b, v, c, wm, ws, vm, vs]
    }
}

/// Noisy images; each digit has its own bright pixels.
fn data(device: &Device) -> Result<(Tensor2<f32>, Tensor1<i32>), fuse_gpu::Error> {
    let mut pixels = Tensor2::<f32>::rand(device, [BATCH, PIXELS], 5)?.to_vec_blocking()?;
    let digits: Vec<i32> = (0..BATCH).map(|image| (image * 7 % DIGITS) as i32).collect();
    for (image, &digit) in pixels.chunks_mut(PIXELS).zip(&digits) {
        image.iter_mut().skip(digit as usize).step_by(DIGITS).for_each(|pixel| *pixel += 1.0);
    }
    Ok((Tensor2::from_vec(device, pixels, [BATCH, PIXELS])?, Tensor1::from_vec(device, digits, [BATCH])?))
}

type Start = ([Tensor2<f32>; 2], [Tensor1<f32>; 2], [Tensor2<f32>; 4]);

fn start(device: &Device) -> Result<Start, fuse_gpu::Error> {
    let random = |[inputs, outputs]: [usize; 2], seed: u64| {
        let scale = (2.0 / inputs as f32).sqrt();
        let values = Tensor2::<f32>::randn(device, [inputs, outputs], seed)?.to_vec_blocking()?;
        Tensor2::from_vec(device, values.iter().map(|x| x * scale).collect(), [inputs, outputs])
    };
    let zeros = |shape| Tensor2::zeros(device, shape);
    Ok((
        [random([PIXELS, HIDDEN], 1)?, random([HIDDEN, DIGITS], 2)?],
        [Tensor1::zeros(device, [HIDDEN])?, Tensor1::zeros(device, [DIGITS])?],
        [zeros([PIXELS, HIDDEN])?, zeros([PIXELS, HIDDEN])?, zeros([HIDDEN, DIGITS])?, zeros([HIDDEN, DIGITS])?],
    ))
}

#[test]
fn a_step_has_the_kernels_and_the_losses_of_fuse() -> Result<(), Error> {
    let device = device();
    let (images, digits) = data(&device)?;
    let ([mut w, mut v], [mut b, mut c], [mut wm, mut ws, mut vm, mut vs]) = start(&device)?;
    let mut network = Perceptron {
        w: (&w).into(),
        b: (&b).into(),
        v: (&v).into(),
        c: (&c).into(),
        of_w: [(&wm).into(), (&ws).into()],
        of_v: [(&vm).into(), (&vs).into()],
        steps: 0,
    };
    let (x, classes) = (LazyTensor::from(&images), LazyTensor::from(&digits));
    let (mut found, mut expected) = (vec![], vec![]);
    for number in 1..=20 {
        let (c1, c2) = (1.0 - BETA1.powi(number), 1.0 - BETA2.powi(number));
        let loss;
        (loss, w, b, v, c, wm, ws, vm, vs) = step(&images, &digits, &w, &b, &v, &c, &wm, &ws, &vm, &vs, c1, c2)?;
        expected.push(loss.to_vec_blocking()?[0]);
    }
    let mut memory = 0;
    for number in 1..=20 {
        let (loss, next) = network.next(&x, &classes)?;
        if number == 1 {
            let plan = explain(&next.values(&loss))?.plan;
            assert_eq!(plan.groups.len(), step::PLAN.groups.len(), "{plan}\n{}", step::PLAN);
        }
        eval_all(&next.values(&loss))?;
        network = next;
        found.push(loss.to_vec_blocking::<f32>()?[0]);
        let live = device.memory_report().live_bytes;
        if number > 2 {
            assert_eq!(live, memory, "step {number}");
        }
        memory = live;
    }
    assert_near(&found, &expected, 1e-5);
    assert!(found[19] < 0.5 * found[0], "{found:?}");
    let after = stats(&device);
    assert_eq!((after.compiled, after.misses, after.evaluations), (1, 1, 20), "{after}");
    // AdamW normalizes gradients: near 0, rounding errors become steps of `RATE`.
    assert_near(&network.w.to_vec_blocking::<f32>()?, &w.to_vec_blocking()?, 1e-3);
    let scores = network.scores(&x.slice(0, 0, 40)?)?.argmax(1)?;
    let right =
        scores.to_vec_blocking::<i32>()?.iter().zip(digits.to_vec_blocking()?).filter(|(a, b)| **a == *b).count();
    assert!(right >= 30, "{right} of 40");
    Ok(())
}
