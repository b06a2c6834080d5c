//! Many threads on one device.

use std::thread;

use fuse_runtime::{__private::launch, Device, Error, Tensor1, Tensor2, artifact::DType};

use crate::{artifacts, device, ramp};

fn assert_shareable<T: Send + Sync>() {}

#[test]
fn devices_and_tensors_are_shareable() {
    assert_shareable::<Device>();
    assert_shareable::<Tensor2<f32>>();
    assert_shareable::<fuse_runtime::Error>();
}

#[test]
fn threads_launch_at_once() {
    let device = device();
    let shared = Tensor1::from_vec(&device, ramp(500), [500]).unwrap();
    let steps = artifacts::steps(DType::F32);
    let scaled_add = artifacts::scaled_add();
    let work = |thread: usize| {
        for round in 0..40 {
            let n = 1 + (thread * 37 + round * 11) % 500;
            let rows = 1 + round % 3;
            let scale = (thread + 1) as f32;
            let x = Tensor2::from_vec(&device, ramp(rows * n), [rows, n]).unwrap();
            let y = Tensor1::from_vec(&device, vec![round as f32; n], [n]).unwrap();
            let [z] = launch(scaled_add, &[(&x).into(), (&y).into(), scale.into()]).unwrap();
            let [double, same] = launch(steps, &[(&shared).into()]).unwrap();
            drop(double);
            let z = Tensor2::<f32>::from_raw(z).to_vec_blocking().unwrap();
            let expected: Vec<f32> = ramp(rows * n).iter().map(|x| scale * x + round as f32).collect();
            assert_eq!(z, expected, "thread {thread}, round {round}");
            if round % 8 == 0 {
                assert_eq!(Tensor1::<f32>::from_raw(same).to_vec_blocking().unwrap(), ramp(500));
            }
        }
    };
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || work(thread));
        }
    });
    device.synchronize_blocking().unwrap();
    assert_eq!(device.memory_report().live_buffers, 1);
}

#[test]
fn work_can_be_awaited() {
    let device = device();
    let x = Tensor1::full(&device, 1.0f32, [64]).unwrap();
    let [double, _] = launch(artifacts::steps(DType::F32), &[(&x).into()]).unwrap();
    pollster::block_on(device.synchronize()).unwrap();
    pollster::block_on(device.synchronize()).unwrap();
    assert_eq!(Tensor1::<f32>::from_raw(double).to_vec_blocking().unwrap(), [4.0; 64]);
    device.destroy();
    assert!(matches!(pollster::block_on(device.synchronize()), Err(Error::DeviceLost { .. })));
}

#[test]
fn readbacks_can_be_awaited_together() {
    let device = device();
    let tensors: Vec<_> = (0..8)
        .map(|i| {
            let x = Tensor1::full(&device, i as f32, [64]).unwrap();
            let [double, _] = launch(artifacts::steps(DType::F32), &[(&x).into()]).unwrap();
            Tensor1::<f32>::from_raw(double)
        })
        .collect();
    thread::scope(|scope| {
        for (i, tensor) in tensors.iter().enumerate() {
            scope.spawn(move || {
                let values = pollster::block_on(tensor.to_vec()).unwrap();
                assert_eq!(values, [2.0 * (i as f32 + 1.0); 64]);
            });
        }
    });
}
