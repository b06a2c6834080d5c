//! Failures in a page: shapes, sizes, refused shaders, lost devices. Nothing panics, and errors have our own type.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
};

use fuse_artifact::{Function, List, Text, Wgsl};
use fuse_gpu::{__private::launch, Device, Error, Tensor1, Tensor2, fuse};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::{device, new_device};

fuse! {
    fn layer(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        relu(matmul(x, w) + b)
    }

    fn increment(x: f32[N]) -> f32[N] {
        x + 1.0
    }
}

pub(crate) async fn reported(device: &Device) -> Result<(), Error> {
    Tensor1::from_vec(device, vec![1.0f32], [1])?.to_vec().await.map(drop)
}

fn with_text(function: &Function, text: &'static str) -> &'static Function {
    let mut broken = Function { alternatives: List::Borrowed(&[]), ..function.clone() };
    for kernel in broken.kernels.to_mut() {
        for variant in kernel.variants.to_mut() {
            variant.passes.to_mut().iter_mut().for_each(|pass| pass.wgsl = Wgsl::Whole(Text::Borrowed(text)));
        }
    }
    Box::leak(Box::new(broken))
}

#[wasm_bindgen_test]
async fn shapes_that_disagree_are_named() -> Result<(), Error> {
    let device = device().await;
    let (x, w) = (Tensor2::zeros(&device, [2, 3])?, Tensor2::zeros(&device, [4, 5])?);
    let error = layer(&x, &w, &Tensor1::zeros(&device, [5])?).unwrap_err();
    let expected = "kernel `layer`, argument `w`, axis 0 (`K`): expected 3 (from `x`, axis 1), found 4";
    assert_eq!(error.to_string(), expected);
    Ok(())
}

#[wasm_bindgen_test]
async fn sizes_beyond_the_limits_are_refused_before_the_browser_sees_them() {
    let device = device().await;
    let elements = device.info().limits.binding_bytes as usize / 4 + 1;
    let error = Tensor1::<f32>::zeros(&device, [elements]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: "bytes of a tensor on this adapter", .. }), "{error}");
    let small = Device::builder().max_tensor_bytes(1 << 20).build().await.unwrap();
    assert!(matches!(Tensor1::<f32>::zeros(&small, [(1 << 18) + 1]), Err(Error::TooLarge { .. })));
    let other = Tensor1::<f32>::zeros(&small, [3]).unwrap();
    let x = Tensor2::<f32>::zeros(&device, [2, 3]).unwrap();
    let error = layer(&x, &Tensor2::zeros(&device, [3, 3]).unwrap(), &other).unwrap_err();
    assert_eq!(error.to_string(), "kernel `layer`: argument `b` is on another device than `x`");
}

#[wasm_bindgen_test]
async fn adapters_that_are_not_there_are_named() {
    let error = Device::builder().adapter("no such adapter").build().await.unwrap_err();
    assert!(matches!(&error, Error::NoAdapter { wanted, .. } if wanted.contains("no such adapter")), "{error}");
}

#[wasm_bindgen_test]
async fn refused_shaders_are_errors_that_name_the_kernel() {
    // Browsers refuse a shader after the launch returned: the readback reports it. A separate device shields other
    // tests.
    let device = new_device().await;
    let broken = with_text(&increment::FUNCTION, "@compute @workgroup_size(64) fn main() { nonsense }");
    let x = Tensor1::from_vec(&device, vec![1.0f32; 8], [8]).unwrap();
    let [y] = launch::<1>(broken, &[(&x).into()]).unwrap();
    let mut error = Tensor1::<f32>::from_raw(y).to_vec().await.err();
    for _ in 0..10 {
        if error.is_some() {
            break;
        }
        error = reported(&device).await.err();
    }
    let error = error.expect("the browser refuses the shader");
    assert!(matches!(&error, Error::Pipeline { kernel, .. } if kernel.contains("increment")), "{error}");
    // The device works, once all consequences are reported.
    for _ in 0..10 {
        if reported(&device).await.is_ok() {
            break;
        }
    }
    assert_eq!(increment(&x).unwrap().to_vec().await.unwrap(), [2.0; 8]);
}

#[wasm_bindgen_test]
async fn a_device_that_was_given_up_is_lost_and_a_new_one_works() {
    let device = new_device().await;
    let x = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2]).unwrap();
    device.destroy();
    assert!(matches!(increment(&x), Err(Error::DeviceLost { .. })));
    assert!(matches!(x.to_vec().await, Err(Error::DeviceLost { .. })));
    let again = new_device().await;
    let x = Tensor1::from_vec(&again, vec![1.0f32, 2.0], [2]).unwrap();
    assert_eq!(increment(&x).unwrap().to_vec().await.unwrap(), [2.0, 3.0]);
}

#[wasm_bindgen_test]
async fn a_device_that_the_browser_takes_away_is_lost() {
    let device = new_device().await;
    let x = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2]).unwrap();
    let y = increment(&x).unwrap();
    let mut pending = pin!(y.to_vec());
    assert!(pending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    device.wgpu_device().destroy();
    let error = pending.await.expect_err("the values are gone");
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    assert!(matches!(increment(&x), Err(Error::DeviceLost { .. })));
    let again = new_device().await;
    assert_eq!(reported(&again).await, Ok(()));
}
