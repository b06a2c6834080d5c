//! Pipelines created ahead of launches.

use std::thread;

use fuse_runtime::{
    __private::{Kernels, launch, variants},
    Device, Error, Tensor1, Tensor2,
    artifact::{DType, Function},
};

use crate::{artifacts, device, ramp};

/// As a module's `KERNELS`.
fn kernels(function: &'static Function) -> &'static Kernels {
    Box::leak(Box::new(Kernels::new(Vec::leak(vec![function]), Vec::leak(function.kernels.iter().collect()))))
}

fn passes(function: &Function) -> usize {
    function.kernels.iter().flat_map(|kernel| kernel.variants.iter()).map(|variant| variant.passes.len()).sum()
}

#[test]
fn launches_after_a_warm_up_create_no_pipeline() {
    let (warm, cold) = (device(), device());
    let (add, steps) = (artifacts::scaled_add(), artifacts::steps(DType::F32));
    warm.warm_up(&[kernels(add), kernels(steps)]).unwrap();
    assert_eq!(warm.pipelines(), passes(add) + passes(steps));
    let run = |device: &Device| {
        let x = Tensor2::from_vec(device, ramp(600), [2, 300]).unwrap();
        let y = Tensor1::from_vec(device, ramp(300), [300]).unwrap();
        let [z] = launch(add, &[(&x).into(), (&y).into(), 2f32.into()]).unwrap();
        let [double, _] = launch(steps, &[(&y).into()]).unwrap();
        let z = Tensor2::<f32>::from_raw(z).to_vec_blocking().unwrap();
        (z, Tensor1::<f32>::from_raw(double).to_vec_blocking().unwrap())
    };
    assert_eq!(run(&warm), run(&cold));
    assert_eq!(warm.pipelines(), passes(add) + passes(steps));
    warm.warm_up(&[kernels(add), kernels(add)]).unwrap();
    assert_eq!(warm.pipelines(), passes(add) + passes(steps));
}

#[test]
fn shapes_choose_the_pipelines() {
    let device = device();
    let (add, product) = (artifacts::scaled_add(), artifacts::matmul());
    device.warm_up_for(&[(add, &[&[1, 300], &[300], &[]]), (product, &[&[2, 3, 64], &[64, 5]])]).unwrap();
    let created = device.pipelines();
    assert!(created < passes(add) + passes(product), "{created}");
    let x = Tensor2::from_vec(&device, ramp(300), [1, 300]).unwrap();
    let y = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    launch::<1>(add, &[(&x).into(), (&y).into(), 2f32.into()]).unwrap();
    let (a, b) = (Tensor2::full(&device, 1f32, [6, 64]).unwrap(), Tensor2::full(&device, 2f32, [64, 5]).unwrap());
    let [z] = launch(product, &[(&a.reshape([2, 3, 64]).unwrap()).into(), (&b).into()]).unwrap();
    assert_eq!(z.to_bytes_blocking().unwrap(), 128f32.to_le_bytes().repeat(30));
    assert_eq!(device.pipelines(), created);
    // Shapes are checked as a launch's.
    let error = device.warm_up_for(&[(add, &[&[1, 300], &[301], &[]])]).unwrap_err();
    assert!(matches!(&error, Error::DimensionMismatch { argument, .. } if argument == "y"), "{error}");
    assert!(matches!(device.warm_up_for(&[(add, &[&[1, 300]])]), Err(Error::Count { .. })));
}

#[test]
fn alternatives_are_warmed_up_and_what_the_device_cannot_run_is_not() {
    let mut function = artifacts::tail(1).clone();
    function.alternatives = vec![artifacts::tail(1).clone()].into();
    let first = &mut function.kernels.to_mut()[0].variants.to_mut()[0];
    first.features.subgroups = u32::MAX;
    let function = artifacts::leak(function);
    let device = device();
    device.warm_up(&[kernels(function)]).unwrap();
    assert_eq!(device.pipelines(), 1);
    let x = Tensor1::from_vec(&device, ramp(8), [8]).unwrap();
    assert_eq!(variants(function, &[(&x).into()]).unwrap()[0].legal.len(), 1);
    launch::<1>(function, &[(&x).into()]).unwrap();
    assert_eq!(device.pipelines(), 1);
}

#[test]
fn refused_pipelines_are_named_and_the_others_exist() {
    let device = device();
    let broken = artifacts::with_text(artifacts::tail(1), "@compute @workgroup_size(64) fn main() { nonsense }");
    let good = artifacts::scaled_add();
    let error = device.warm_up(&[kernels(good), kernels(broken)]).unwrap_err();
    assert!(
        matches!(&error, Error::Pipeline { kernel, variant, .. } if kernel == "tail" && variant == "flat"),
        "{error}"
    );
    assert_eq!(device.pipelines(), passes(good));
    device.destroy();
    let error = device.warm_up(&[kernels(broken)]).unwrap_err();
    assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
}

#[test]
fn threads_warm_up_and_launch_at_once() {
    let device = device();
    let functions = [artifacts::scaled_add(), artifacts::steps(DType::F32), artifacts::steps(DType::I32)];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| device.warm_up(&functions.map(kernels)).unwrap());
        }
        let x = Tensor1::from_vec(&device, ramp(100), [100]).unwrap();
        launch::<2>(functions[1], &[(&x).into()]).unwrap();
    });
    assert_eq!(device.pipelines(), functions.map(passes).iter().sum());
}
