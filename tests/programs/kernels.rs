//! Every kernel of `fuse-kernels` on the default adapter at small odd sizes, against the interpreter (modules are named
//! as in the library) and PyTorch (`pytorch`).

mod blocks;
mod layers;
mod pytorch;
mod quantized;
mod rows;

use fuse_gpu::{__private::reference::Value, Device, Element, Float, Tensor};

/// Allowed rounding units, relative to the larger of 1 and the expected value. Products sum at most 24 terms of
/// magnitude at most 1, reductions 780, and `f16` is rounded between kernels.
const ROUNDINGS: f64 = 64.0;

fn device() -> Device {
    Device::blocking().unwrap()
}

/// Multiples of 1/32 from -1 to just below 1.
fn tensor<T: Float, const D: usize>(device: &Device, shape: [usize; D], seed: usize) -> Tensor<T, D> {
    tensor_of(device, shape, |i| numbers(i, seed))
}

/// Multiples of 1/32 from 1/32 to 2, like variances.
fn positive<T: Float, const D: usize>(device: &Device, shape: [usize; D], seed: usize) -> Tensor<T, D> {
    tensor_of(device, shape, |i| numbers(i, seed) + 1.03125)
}

fn numbers(i: usize, seed: usize) -> f32 {
    ((i * 37 + seed * 11) % 64) as f32 / 32.0 - 1.0
}

fn tensor_of<T: Float, const D: usize>(
    device: &Device,
    shape: [usize; D],
    value: impl Fn(usize) -> f32,
) -> Tensor<T, D> {
    let values = (0..shape.iter().product()).map(|i| T::from_f32(value(i))).collect();
    Tensor::from_vec(device, values, shape).unwrap()
}

#[track_caller]
fn assert_close<T: Element + Into<f64>, const D: usize>(what: &str, actual: &Tensor<T, D>, expected: &Value) {
    assert_eq!(actual.shape(), *expected.shape, "{what}");
    let epsilon = f64::powi(2.0, if T::DTYPE.bytes() == 2 { -11 } else { -24 });
    let actual = actual.to_vec_blocking().unwrap();
    assert_eq!(actual.len(), expected.data.len(), "{what}");
    for (i, (actual, &expected)) in actual.into_iter().zip(&expected.data).enumerate() {
        let (actual, bound): (f64, f64) = (actual.into(), ROUNDINGS * epsilon * expected.abs().max(1.0));
        assert!((actual - expected).abs() <= bound, "{what}, element {i}: expected {expected}, found {actual}");
    }
}

/// Compares a launch of a kernel with its reference; `=> a, b` names several results.
macro_rules! check {
    ($kernel:ident($($argument:expr),* $(,)?)) => { check!($kernel($($argument),*) => result) };
    ($kernel:ident($($argument:expr),* $(,)?) => $($result:ident),+) => {{
        #[allow(unused_parens, reason = "several results are a tuple, one is none")]
        let ($($result),+) = fuse_gpu::kernels::$kernel($($argument),*).unwrap();
        let mut expected = fuse_gpu::kernels::$kernel::reference($($argument),*).unwrap().into_iter();
        $(
            let what = concat!(stringify!($kernel), ", ", stringify!($result));
            crate::kernels::assert_close(what, &$result, &expected.next().unwrap());
        )+
        assert!(expected.next().is_none(), "{} has more results", stringify!($kernel));
    }};
}
use check;

macro_rules! in_both_types {
    ($($name:ident),+ $(,)?) => {
        mod in_f32 {
            $(#[test] fn $name() { super::$name::<f32>(); })+
        }
        mod in_f16 {
            $(#[test] fn $name() { super::$name::<fuse_gpu::f16>(); })+
        }
    };
}
use in_both_types;

#[test]
fn every_kernel_is_checked() {
    let folder = fuse_test_support::checkout().join("fuse-kernels/src");
    let checks = [
        include_str!("kernels/blocks.rs"),
        include_str!("kernels/layers.rs"),
        include_str!("kernels/quantized.rs"),
        include_str!("kernels/rows.rs"),
    ]
    .concat();
    let mut kernels = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for text in source.split("pub fn ").skip(1) {
            let name = text.split(['<', '(']).next().unwrap();
            assert!(checks.contains(&format!("check!({name}(")), "no test checks `{name}`");
            kernels += 1;
        }
    }
    assert!(kernels > 0, "no kernels in {}", folder.display());
}
