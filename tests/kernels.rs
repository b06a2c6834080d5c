//! The kernels of `fuse-kernels` against the interpreter, on the default adapter.

use fuse_gpu::{__private::reference::Value, Device, Element, Error, Float, Tensor, f16, kernels};

/// Units of rounding allowed, relative to the larger of 1 and the expected value: the sums have at most 24
/// products of magnitude at most 1, and `f16` values are rounded between kernels.
const ROUNDINGS: f64 = 64.0;

fn tensor<T: Float, const D: usize>(device: &Device, shape: [usize; D], seed: usize) -> Tensor<T, D> {
    let value = |i: usize| T::from_f32(((i * 37 + seed * 11) % 64) as f32 / 32.0 - 1.0);
    Tensor::from_vec(device, (0..shape.iter().product()).map(value).collect(), shape).unwrap()
}

#[track_caller]
fn assert_close<T: Element + Into<f64>, const D: usize>(
    actual: Result<Tensor<T, D>, Error>,
    expected: Result<[Value; 1], Error>,
) {
    let (actual, [expected]) = (actual.unwrap(), expected.unwrap());
    assert_eq!(actual.shape(), *expected.shape);
    let epsilon = f64::powi(2.0, if T::DTYPE.bytes() == 2 { -11 } else { -24 });
    for (i, (actual, expected)) in actual.to_vec_blocking().unwrap().into_iter().zip(expected.data).enumerate() {
        let (actual, bound): (f64, f64) = (actual.into(), ROUNDINGS * epsilon * expected.abs().max(1.0));
        assert!((actual - expected).abs() <= bound, "element {i}: expected {expected}, found {actual}");
    }
}

fn linear_layers<T: Float + Into<f64>>() {
    let device = Device::blocking().unwrap();
    let x = &tensor::<T, 2>(&device, [5, 24], 1);
    let (w, wt) = (&tensor(&device, [24, 7], 2), &tensor(&device, [7, 24], 3));
    let (b, r) = (&tensor(&device, [7], 4), &tensor(&device, [5, 7], 5));
    assert_close(kernels::linear(x, w, b), kernels::linear::reference(x, w, b));
    assert_close(kernels::linear_t(x, wt, b), kernels::linear_t::reference(x, wt, b));
    assert_close(kernels::linear_relu(x, w, b), kernels::linear_relu::reference(x, w, b));
    assert_close(kernels::linear_residual(x, w, b, r), kernels::linear_residual::reference(x, w, b, r));
}

fn feed_forward_blocks<T: Float + Into<f64>>() {
    let device = Device::blocking().unwrap();
    let x = &tensor::<T, 2>(&device, [5, 12], 1);
    let (up, down) = (&tensor(&device, [24, 12], 2), &tensor(&device, [12, 24], 3));
    let (b1, b2) = (&tensor(&device, [24], 4), &tensor(&device, [12], 5));
    let expected = kernels::feed_forward_t::reference(x, up, b1, down, b2);
    assert_close(kernels::feed_forward_t(x, up, b1, down, b2), expected);
    assert_close(kernels::swiglu(x, down, down, up), kernels::swiglu::reference(x, down, down, up));
}

#[test]
fn linear_layers_in_f32() {
    linear_layers::<f32>();
}

#[test]
fn linear_layers_in_f16() {
    linear_layers::<f16>();
}

#[test]
fn feed_forward_blocks_in_f32() {
    feed_forward_blocks::<f32>();
}

#[test]
fn feed_forward_blocks_in_f16() {
    feed_forward_blocks::<f16>();
}
