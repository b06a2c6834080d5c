//! Tests of lazy tensors through the public API.

mod basics;
mod conveniences;
mod costs;
mod digits;
mod fusion;
mod gradients;
mod held;
mod hostile;
mod hostile_many;
mod kept;
mod loops;
mod minilm;
mod random;

use fuse_gpu::{Device, Tensor, auto::LazyTensor};

/// A device of its own, so that other tests do not change its statistics.
fn device() -> Device {
    Device::blocking().expect("an adapter")
}

fn random<const D: usize>(device: &Device, shape: [usize; D], seed: u64) -> Tensor<f32, D> {
    Tensor::<f32, D>::randn(device, shape, seed).expect("memory")
}

fn lazy<const D: usize>(device: &Device, shape: [usize; D], seed: u64) -> (LazyTensor, Vec<f32>) {
    let tensor = random(device, shape, seed);
    let values = tensor.to_vec_blocking().expect("values");
    (LazyTensor::from(&tensor), values)
}

fn assert_near(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (index, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {index}: {a} and not {b}");
    }
}
