//! Optimizers in user functions: against plain `f64` versions, with clipped gradients, in captured sequences, and with
//! loss scaling for `f16` products.

use fuse_gpu::{Device, Error, Tensor, Tensor0, Tensor1, Tensor2, fuse, kernels};

fuse! {
    use fuse_gpu::kernels::optimizers::{adamw, adamw_matrix, clip_scale, squared_norm, squared_norm_matrix};

    fn regress(
        x: f32[B, K], dy: f32[B, N], w: f32[K, N], m: f32[K, N], s: f32[K, N], rate: f32, step: f32,
    ) -> (f32[K, N], f32[K, N], f32[K, N]) {
        adamw_matrix(w, grad(matmul(x, w), wrt = w, cotangent = dy), m, s, rate, 0.9, 0.999, 1e-8, 0.01, step)
    }

    /// AdamW with all numbers on the device; counts its steps.
    fn counting(
        p: f32[N], g: f32[N], m: f32[N], s: f32[N], rate: f32[], count: f32[],
    ) -> (f32[N], f32[N], f32[N], f32[]) {
        let step = count + 1.0;
        let (p2, m2, s2) = adamw(p, g, m, s, rate, 0.9, 0.999, 1e-8, 0.01, step);
        (p2, m2, s2, step)
    }

    /// Gradients clipped by their global norm.
    fn clipped(a: f32[M, N], b: f32[L], limit: f32) -> (f32[M, N], f32[L]) {
        let scale = clip_scale(squared_norm_matrix(a) + squared_norm(b), limit);
        (scale * a, scale * b)
    }
}

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

fn numbers<const D: usize>(tensor: &Tensor<f32, D>) -> Vec<f64> {
    tensor.to_vec_blocking().unwrap().into_iter().map(f64::from).collect()
}

#[track_caller]
fn close<const D: usize>(found: &Tensor<f32, D>, expected: &[f64], tolerance: f64) {
    let found = numbers(found);
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{i}: {found} beside {expected}");
    }
}

const COUNT: usize = 41;
const STEPS: usize = 5;

fn gradient(device: &Device, step: usize) -> Tensor1<f32> {
    Tensor1::randn(device, [COUNT], 100 + step as u64).unwrap()
}

/// Momentum of Sutskever et al., with PyTorch's weight decay.
#[test]
fn sgd_is_what_f64_computes() {
    let device = device();
    let (mut p, mut v) = (Tensor1::randn(&device, [COUNT], 1).unwrap(), Tensor1::zeros(&device, [COUNT]).unwrap());
    let (mut expected, mut velocity) = (numbers(&p), vec![0.0; COUNT]);
    for step in 0..STEPS {
        let g = gradient(&device, step);
        (p, v) = kernels::sgd(&p, &g, &v, 0.125, 0.875, 0.0625).unwrap();
        for (i, g) in numbers(&g).into_iter().enumerate() {
            velocity[i] = 0.875 * velocity[i] + g + 0.0625 * expected[i];
            expected[i] -= 0.125 * velocity[i];
        }
    }
    close(&p, &expected, 1e-5);
    close(&v, &velocity, 1e-5);
}

/// Algorithm 2 of Loshchilov and Hutter, in `f64`.
fn adamw_in_f64(p: &mut [f64], m: &mut [f64], s: &mut [f64], g: &[f64], rate: f64, step: i32) {
    let (beta1, beta2) = (f64::from(0.9f32), f64::from(0.999f32));
    for i in 0..p.len() {
        m[i] = beta1 * m[i] + (1.0 - beta1) * g[i];
        s[i] = beta2 * s[i] + (1.0 - beta2) * g[i] * g[i];
        let (first, second) = (m[i] / (1.0 - beta1.powi(step)), s[i] / (1.0 - beta2.powi(step)));
        p[i] -= rate * (first / (second.sqrt() + 1e-8) + 0.01 * p[i]);
    }
}

#[test]
fn adamw_is_what_f64_computes_with_numbers_of_the_host_and_of_the_device() {
    let device = device();
    let mut host =
        [Tensor1::randn(&device, [COUNT], 2), Tensor1::zeros(&device, [COUNT]), Tensor1::zeros(&device, [COUNT])]
            .map(Result::unwrap);
    let [mut p, mut m, mut s] = host.each_ref().map(numbers);
    let mut of_device = host.clone();
    let rate = Tensor0::from_vec(&device, vec![0.0625f32], []).unwrap();
    let mut count = Tensor0::zeros(&device, []).unwrap();
    for step in 1..=STEPS {
        let g = gradient(&device, step);
        let [a, b, c] = &host;
        let next = kernels::adamw(a, &g, b, c, 0.0625, 0.9, 0.999, 1e-8, 0.01, step as f32).unwrap();
        host = next.into();
        let [a, b, c] = &of_device;
        let next;
        (next, count) = {
            let (a, b, c, count) = counting(a, &g, b, c, &rate, &count).unwrap();
            ([a, b, c], count)
        };
        of_device = next;
        adamw_in_f64(&mut p, &mut m, &mut s, &numbers(&g), 0.0625, step as i32);
    }
    for found in [&host, &of_device] {
        close(&found[0], &p, 1e-5);
        close(&found[1], &m, 1e-5);
        close(&found[2], &s, 1e-5);
    }
    assert_eq!(numbers(&count), [STEPS as f64]);
}

/// Algorithm 2 of Chen et al., in `f64`.
#[test]
fn lion_is_what_f64_computes() {
    let device = device();
    let (mut p, mut m) = (Tensor1::randn(&device, [COUNT], 3).unwrap(), Tensor1::zeros(&device, [COUNT]).unwrap());
    let (mut expected, mut momentum) = (numbers(&p), vec![0.0f64; COUNT]);
    let (beta1, beta2) = (f64::from(0.9f32), f64::from(0.99f32));
    for step in 0..STEPS {
        let g = gradient(&device, step);
        (p, m) = kernels::lion(&p, &g, &m, 0.0625, 0.9, 0.99, 0.125).unwrap();
        for (i, g) in numbers(&g).into_iter().enumerate() {
            let direction = beta1 * momentum[i] + (1.0 - beta1) * g;
            assert!(direction.abs() > 1e-5, "the sign must not hang on a rounding");
            expected[i] -= 0.0625 * (direction.signum() + 0.125 * expected[i]);
            momentum[i] = beta2 * momentum[i] + (1.0 - beta2) * g;
        }
    }
    close(&p, &expected, 1e-5);
    close(&m, &momentum, 1e-5);
}

#[test]
fn several_gradients_share_one_norm() {
    let device = device();
    let (a, b) = (Tensor2::randn(&device, [7, 5], 4).unwrap(), Tensor1::randn(&device, [9], 5).unwrap());
    let norm = numbers(&a).iter().chain(&numbers(&b)).map(|x| x * x).sum::<f64>().sqrt();
    for limit in [0.5f32, 100.0] {
        let scale = (f64::from(limit) / (norm + 1e-6)).min(1.0);
        let (found_a, found_b) = clipped(&a, &b, limit).unwrap();
        close(&found_a, &numbers(&a).iter().map(|x| scale * x).collect::<Vec<_>>(), 1e-5);
        close(&found_b, &numbers(&b).iter().map(|x| scale * x).collect::<Vec<_>>(), 1e-5);
    }
}

#[test]
fn a_step_is_the_epilogue_of_the_product_that_makes_the_gradient() {
    assert_eq!(regress::PLAN.groups.len(), 1, "{}", regress::PLAN);
    let device = device();
    let (x, dy) = (Tensor2::randn(&device, [9, 6], 1).unwrap(), Tensor2::randn(&device, [9, 4], 2).unwrap());
    let (w, zero) = (Tensor2::randn(&device, [6, 4], 3).unwrap(), Tensor2::zeros(&device, [6, 4]).unwrap());
    let (found, ..) = regress(&x, &dy, &w, &zero, &zero, 0.0625, 1.0).unwrap();
    let (x, dy) = (numbers(&x), numbers(&dy));
    let g: Vec<f64> = (0..24).map(|i| (0..9).map(|b| x[b * 6 + i / 4] * dy[b * 4 + i % 4]).sum()).collect();
    let (mut p, mut m, mut s) = (numbers(&w), vec![0.0; 24], vec![0.0; 24]);
    adamw_in_f64(&mut p, &mut m, &mut s, &g, 0.0625, 1);
    close(&found, &p, 1e-4);
}

/// Sequences replay the host's numbers, so a step counter must be a tensor.
#[test]
fn a_captured_step_counts_on() {
    let device = device();
    let g = gradient(&device, 0);
    let [mut p, mut m, mut s] = [1, 2, 3].map(|_| Tensor1::<f32>::zeros(&device, [COUNT]).unwrap());
    let rate = Tensor0::from_vec(&device, vec![0.0625f32], []).unwrap();
    let mut count = Tensor0::<f32>::zeros(&device, []).unwrap();
    let step = |p: &mut Tensor1<f32>, m: &mut Tensor1<f32>, s: &mut Tensor1<f32>, count: &mut Tensor0<f32>| {
        let (p2, m2, s2, next) = counting(p, &g, m, s, &rate, count)?;
        (*p, *m, *s, *count) = (p2, m2, s2, next);
        Ok::<(), Error>(())
    };
    let (sequence, results) = device
        .capture(|| {
            step(&mut p, &mut m, &mut s, &mut count)?;
            step(&mut p, &mut m, &mut s, &mut count)?;
            Ok::<_, Error>((p, count))
        })
        .unwrap();
    sequence.replay().unwrap();
    let [mut expected, mut first, mut second] = [(); 3].map(|()| vec![0.0; COUNT]);
    for step in 1..=2 {
        adamw_in_f64(&mut expected, &mut first, &mut second, &numbers(&g), 0.0625, step);
    }
    close(&results.0, &expected, 1e-5);
    assert_eq!(numbers(&results.1), [2.0]);
}

fuse! {
    use fuse_gpu::kernels::optimizers::{adamw, adamw_matrix};

    /// A step with products in `f16` (Micikevicius et al. 2018, "Mixed precision training"). Weights stay `f32`. The
    /// loss is scaled, so that small gradients do not underflow in `f16`. If a gradient is not finite, the step only
    /// halves the scale.
    fn mixed(
        x: f32[B, K], classes: i32[B], rate: f32, scale: f32[], count: f32[],
        w: f32[K, H], b: f32[H], v: f32[H, C],
        wm: f32[K, H], ws: f32[K, H], bm: f32[H], bs: f32[H], vm: f32[H, C], vs: f32[H, C],
    ) -> (
        f32, f32, f32,
        f32[K, H], f32[H], f32[H, C],
        f32[K, H], f32[K, H], f32[H], f32[H], f32[H, C], f32[H, C],
    ) {
        let h = relu(matmul(x as f16, w as f16) + (b as f16));
        let scores = matmul(h, v as f16) as f32;
        let loss = mean(cross_entropy(scores, classes));
        let (dw, db, dv) = grad(loss * scale, wrt = [w, b, v]);
        let finite = all(isfinite(dw)) && all(isfinite(db)) && all(isfinite(dv));
        let step = count + 1.0;
        let (w2, wm2, ws2) = adamw_matrix(w, dw / scale, wm, ws, rate, 0.9, 0.999, 1e-8, 0.01, step);
        let (b2, bm2, bs2) = adamw(b, db / scale, bm, bs, rate, 0.9, 0.999, 1e-8, 0.0, step);
        let (v2, vm2, vs2) = adamw_matrix(v, dv / scale, vm, vs, rate, 0.9, 0.999, 1e-8, 0.01, step);
        (
            loss, select(finite, scale, 0.5 * scale), select(finite, step, count),
            select(finite, w2, w), select(finite, b2, b), select(finite, v2, v),
            select(finite, wm2, wm), select(finite, ws2, ws), select(finite, bm2, bm), select(finite, bs2, bs),
            select(finite, vm2, vm), select(finite, vs2, vs),
        )
    }
}

const POINTS: usize = 64;
const FEATURES: usize = 12;
const HIDDEN: usize = 24;

struct State {
    scale: Tensor0<f32>,
    count: Tensor0<f32>,
    /// `w` with its first and second moments, then those of `v`.
    matrices: [Tensor2<f32>; 6],
    vectors: [Tensor1<f32>; 3],
}

impl State {
    fn new(device: &Device, scale: f32) -> Result<Self, Error> {
        let (w, v) = (Tensor2::randn(device, [FEATURES, HIDDEN], 11)?, Tensor2::randn(device, [HIDDEN, 3], 12)?);
        let zeros = |shape| Tensor2::zeros(device, shape);
        let (of_w, of_v) = ([FEATURES, HIDDEN], [HIDDEN, 3]);
        let [b, bm, bs] = [0; 3].map(|_| Tensor1::zeros(device, [HIDDEN]));
        Ok(Self {
            scale: Tensor0::from_vec(device, vec![scale], [])?,
            count: Tensor0::zeros(device, [])?,
            matrices: [fuse!(w * 0.3)?, zeros(of_w)?, zeros(of_w)?, fuse!(v * 0.3)?, zeros(of_v)?, zeros(of_v)?],
            vectors: [b?, bm?, bs?],
        })
    }

    fn step(&mut self, x: &Tensor2<f32>, classes: &Tensor1<i32>) -> Result<f32, Error> {
        let ([w, wm, ws, v, vm, vs], [b, bm, bs]) = (&self.matrices, &self.vectors);
        let (loss, scale, count, w, b, v, wm, ws, bm, bs, vm, vs) =
            mixed(x, classes, 0.02, &self.scale, &self.count, w, b, v, wm, ws, bm, bs, vm, vs)?;
        *self = Self { scale, count, matrices: [w, wm, ws, v, vm, vs], vectors: [b, bm, bs] };
        Ok(loss.to_vec_blocking()?[0])
    }

    fn bits(&self) -> Vec<u32> {
        let matrices = self.matrices.iter().flat_map(|x| x.to_vec_blocking().unwrap());
        let vectors = self.vectors.iter().flat_map(|x| x.to_vec_blocking().unwrap());
        let count = self.count.to_vec_blocking().unwrap();
        matrices.chain(vectors).chain(count).map(f32::to_bits).collect()
    }
}

#[test]
fn mixed_precision_learns_and_skips_steps_that_overflow() {
    let device = device();
    let x = Tensor2::randn(&device, [POINTS, FEATURES], 10).unwrap();
    let class = |row: &[f32]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0) as i32;
    let classes = x.to_vec_blocking().unwrap().chunks(FEATURES).map(class).collect();
    let classes = Tensor1::from_vec(&device, classes, [POINTS]).unwrap();

    let mut state = State::new(&device, 1024.0).unwrap();
    let losses: Vec<f32> = (0..60).map(|_| state.step(&x, &classes).unwrap()).collect();
    assert!(losses[59] < 0.2 * losses[0], "from {} to {}", losses[0], losses[59]);
    assert_eq!(numbers(&state.scale), [1024.0], "no step overflowed");
    assert_eq!(numbers(&state.count), [60.0]);

    // Gradients that overflow `f16` change only the scale.
    let mut state = State::new(&device, 1e30).unwrap();
    let before = state.bits();
    let loss = state.step(&x, &classes).unwrap();
    assert!(loss.is_finite());
    assert_eq!(state.bits(), before, "a step that overflowed changed something");
    assert_eq!(state.scale.to_vec_blocking().unwrap(), [0.5e30f32]);

    let mut state = State::new(&device, 65536.0 * 65536.0).unwrap();
    for _ in 0..40 {
        state.step(&x, &classes).unwrap();
    }
    assert!(numbers(&state.count)[0] > 10.0, "{:?} steps, scale {:?}", numbers(&state.count), numbers(&state.scale));
}
