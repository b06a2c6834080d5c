//! `Device::capture`, `Sequence` and `Device::warm_up` with compiled functions.

use fuse_gpu::{Device, Error, Tensor1, Tensor2, fuse};

fuse! {
    pub fn layer<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        relu(matmul(x, w) + b)
    }

    /// Has alternatives: one kernel that stores the exponentials, or two.
    pub fn scores(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
        softmax(matmul(gelu(x), w))
    }
}

const ROWS: usize = 6;
const FEATURES: usize = 32;

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

struct Model {
    w: [Tensor2<f32>; 2],
    b: Tensor1<f32>,
}

impl Model {
    fn new(device: &Device) -> Result<Self, Error> {
        let w = |seed| Tensor2::randn(device, [FEATURES, FEATURES], seed);
        Ok(Self { w: [w(1)?, w(2)?], b: Tensor1::rand(device, [FEATURES], 3)? })
    }

    fn run(&self, x: &Tensor2<f32>, scale: f32) -> Result<Tensor2<f32>, Error> {
        let [v, w] = &self.w;
        let hidden = layer(x, v, &self.b)?;
        let hidden = fuse!(hidden * scale + x)?;
        scores(&hidden, w)
    }
}

fn input(device: &Device, seed: u64) -> Tensor2<f32> {
    Tensor2::randn(device, [ROWS, FEATURES], seed).unwrap()
}

#[test]
fn a_replay_computes_what_the_launches_do() {
    let device = device();
    let model = Model::new(&device).unwrap();
    let mut x = input(&device, 10);
    let (mut sequence, y) = device.capture(|| model.run(&x, 0.5)).unwrap();
    let pipelines = device.pipelines();
    assert!(pipelines >= 3, "capturing creates pipelines, found {pipelines}");
    for seed in 11..20 {
        let fresh = input(&device, seed);
        x.write(&fresh.to_vec_blocking().unwrap()).unwrap();
        sequence.replay().unwrap();
        let expected = model.run(&fresh, 0.5).unwrap().to_vec_blocking().unwrap();
        assert_eq!(y.to_vec_blocking().unwrap(), expected, "input {seed}");
    }
    let other = input(&device, 30);
    sequence.rebind(&x, &other).unwrap();
    sequence.replay().unwrap();
    let expected = model.run(&other, 0.5).unwrap().to_vec_blocking().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), expected);
    assert_eq!(device.pipelines(), pipelines, "the launches used the same pipelines");
    drop((model, x, other));
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), expected);
}

/// Some, all or none of the dispatches affected by a rebinding were bound to these tensors before.
#[test]
fn tensors_take_turns_in_every_order() {
    let device = device();
    let [x, other] = [10, 11].map(|seed| input(&device, seed));
    let [v, u, w] = [1, 2, 3].map(|seed| Tensor2::<f32>::randn(&device, [FEATURES, FEATURES], seed).unwrap());
    let b = Tensor1::rand(&device, [FEATURES], 4).unwrap();
    let both = |x: &Tensor2<f32>, v: &Tensor2<f32>| Ok::<_, Error>([layer(x, v, &b)?, layer(x, &w, &b)?]);
    let values = |results: &[Tensor2<f32>; 2]| results.each_ref().map(|result| result.to_vec_blocking().unwrap());
    let (mut sequence, results) = device.capture(|| both(&x, &v)).unwrap();
    let (mut left, mut right) = (&x, &v);
    for turn in [0, 1, 0, 0, 1, 1, 0, 1] {
        match turn {
            0 => {
                let next = if std::ptr::eq(left, &x) { &other } else { &x };
                sequence.rebind(left, next).unwrap();
                left = next;
            }
            _ => {
                let next = if std::ptr::eq(right, &v) { &u } else { &v };
                sequence.rebind(right, next).unwrap();
                right = next;
            }
        }
        sequence.replay().unwrap();
        assert_eq!(values(&results), values(&both(left, right).unwrap()));
    }
}

#[test]
fn a_thousand_replays_take_no_memory() {
    let device = device();
    let model = Model::new(&device).unwrap();
    let x = input(&device, 10);
    let (sequence, y) = device.capture(|| model.run(&x, 2.0)).unwrap();
    sequence.replay().unwrap();
    // Uploads count as memory until a read waits for them.
    let (expected, report) = (y.to_vec_blocking().unwrap(), device.memory_report());
    for _ in 0..1000 {
        sequence.replay().unwrap();
    }
    assert_eq!(y.to_vec_blocking().unwrap(), expected);
    assert_eq!(device.memory_report(), report);
}

#[test]
fn warming_up_for_shapes_creates_what_launches_use() {
    let device = device();
    let shapes: [&[usize]; 3] = [&[ROWS, FEATURES], &[FEATURES, FEATURES], &[FEATURES]];
    device.warm_up_for(&[(&layer::FUNCTION_F32, &shapes), (&scores::FUNCTION, &shapes[..2])]).unwrap();
    let pipelines = device.pipelines();
    let model = Model::new(&device).unwrap();
    let x = input(&device, 10);
    let hidden = layer(&x, &model.w[0], &model.b).unwrap();
    scores(&hidden, &model.w[1]).unwrap().to_vec_blocking().unwrap();
    assert_eq!(device.pipelines(), pipelines);
}

#[test]
fn kernels_know_their_functions() {
    assert_eq!(layer::KERNELS.functions().len(), 2, "f32 and f16");
    assert!(std::ptr::eq(scores::KERNELS.functions()[0], &scores::FUNCTION));
    assert_eq!(layer::KERNELS.len(), 2);
    assert_eq!(layer::KERNELS.into_iter().count(), 2);
}
