//! Devices: choice, information, loss, profiles, pipelines on disk.

use std::{env, fs, path::PathBuf};

use fuse_runtime::{__private::launch, Device, Error, Tensor1, Tensor2, artifact::DType};

use crate::{artifacts, device, ramp};

#[test]
fn every_adapter_opens_and_computes() {
    let all = Device::all_blocking().unwrap();
    assert_eq!(all.len(), pollster::block_on(Device::adapters()).len());
    for device in all {
        let x = Tensor1::from_vec(&device, ramp(100), [100]).unwrap();
        let [_, same] = launch(artifacts::steps(DType::F32), &[(&x).into()]).unwrap();
        assert_eq!(Tensor1::<f32>::from_raw(same).to_vec_blocking().unwrap(), ramp(100), "{}", device.info());
    }
}

#[test]
fn information_is_there_and_features_can_be_switched_off() {
    let info = device().info().clone();
    assert!(!info.name.is_empty());
    assert!(info.limits.binding_bytes >= 128 << 20 && info.limits.workgroup_invocations >= 256, "{info:?}");
    assert!(info.to_string().starts_with(&info.name));
    let bare = Device::builder().without_f16().without_subgroups().without_timestamps().without_pipeline_cache();
    let bare = bare.build_blocking().unwrap();
    let features = bare.info().features;
    assert_eq!((features.f16, features.subgroups, bare.info().timestamps), (false, 0, false));
    let error = bare.profile(|| ()).unwrap_err();
    assert!(matches!(error, Error::MissingFeature { feature: "timestamp queries", .. }), "{error}");
    let kind = device().info().kind;
    assert_eq!(Device::builder().kind(kind).build_blocking().unwrap().info().kind, kind);
}

#[test]
fn subgroups_are_as_large_as_the_information_says() {
    let device = device();
    let smallest = device.info().features.subgroups;
    assert!(smallest > 0, "this adapter has no subgroup operations: choose another one");
    let x = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    // Stores the size of each invocation's subgroup.
    let needing = |subgroups: u32| {
        let mut function = artifacts::tail(1).clone();
        let variant = &mut function.kernels.to_mut()[0].variants.to_mut()[0];
        variant.features.subgroups = subgroups;
        variant.passes.to_mut()[0].wgsl = "struct Words { workgroups: u32, count: u32, offset: u32 }
            @group(0) @binding(0) var<uniform> u: Words;
            @group(0) @binding(1) var<storage, read> x: array<f32>;
            @group(0) @binding(2) var<storage, read_write> z: array<f32>;
            @compute @workgroup_size(64)
            fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(subgroup_size) size: u32) {
                if id.x < u.count { z[id.x] = f32(size) + x[id.x] * 0.0; }
            }"
        .into();
        artifacts::leak(function)
    };
    let [sizes] = launch(needing(smallest), &[(&x).into()]).unwrap();
    let sizes = Tensor1::<f32>::from_raw(sizes).to_vec_blocking().unwrap();
    assert!(sizes.iter().all(|size| *size >= smallest as f32), "{sizes:?}");
    let error = launch::<1>(needing(2 * smallest), &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::TooLarge { limit: "invocations in the smallest subgroup", .. }), "{error}");
    let without = Device::builder().without_subgroups().without_pipeline_cache().build_blocking().unwrap();
    let x = Tensor1::from_vec(&without, ramp(300), [300]).unwrap();
    let error = launch::<1>(needing(1), &[(&x).into()]).unwrap_err();
    assert!(matches!(&error, Error::MissingFeature { feature: "subgroup operations", .. }), "{error}");
}

#[test]
fn a_lost_device_gives_errors_and_nothing_hangs() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(100), [100]).unwrap();
    let function = artifacts::steps(DType::F32);
    let [recorded, _] = launch(function, &[(&x).into()]).unwrap();
    let recorded = Tensor1::<f32>::from_raw(recorded);
    device.destroy();
    let lost = |error: Error| assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
    lost(recorded.to_vec_blocking().unwrap_err());
    lost(pollster::block_on(x.to_vec()).unwrap_err());
    lost(launch::<2>(function, &[(&x).into()]).unwrap_err());
    lost(Tensor1::from_vec(&device, ramp(10), [10]).unwrap_err());
    lost(Tensor1::<f32>::zeros(&device, [10]).unwrap_err());
    lost(device.submit().unwrap_err());
    lost(device.synchronize_blocking().unwrap_err());
    lost(device.profile(|| ()).unwrap_err());
    device.trim();
}

#[test]
fn loss_behind_the_runtimes_back_is_noticed() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(100), [100]).unwrap();
    device.wgpu_device().destroy();
    // Whichever call notices first, later ones fail without panic or hang.
    let readback = x.to_vec_blocking();
    assert!(readback.is_err(), "{readback:?}");
    let launched = launch::<2>(artifacts::steps(DType::F32), &[(&x).into()]);
    assert!(matches!(launched, Err(Error::DeviceLost { .. })), "{launched:?}");
}

#[test]
fn uncaught_errors_surface_at_the_next_call() {
    let device = device();
    let too_large = wgpu::BufferDescriptor {
        label: None,
        size: u64::MAX / 2,
        usage: wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    };
    drop(device.wgpu_device().create_buffer(&too_large));
    assert!(matches!(device.submit(), Err(Error::Internal { .. })));
    assert_eq!(device.submit(), Ok(()), "an error is reported once");
}

#[test]
fn profiles_list_every_dispatch() {
    let device = device();
    assert!(device.info().timestamps, "this adapter has no timestamps: choose another one");
    let x = Tensor1::from_vec(&device, ramp(100_000), [100_000]).unwrap();
    let function = artifacts::steps(DType::F32);
    let rounds = 1100;
    let (same, profile) = device
        .profile(|| {
            assert_eq!(device.profile(|| ()).unwrap_err(), Error::ProfileActive);
            let launches: Vec<_> =
                (0..rounds).map(|_| launch::<2>(function, &[(&x).into()]).unwrap()[1].clone()).collect();
            launches[rounds - 1].clone()
        })
        .unwrap();
    assert_eq!(profile.entries.len(), 2 * rounds, "more than one query set holds");
    for (i, entry) in profile.entries.iter().enumerate() {
        let kernel = ["steps.0", "steps.1"][i % 2];
        assert_eq!((entry.function, entry.kernel, entry.variant, entry.pass), ("steps", kernel, "flat", 0));
        assert_eq!(entry.workgroups, 1563);
    }
    assert!(profile.nanoseconds() > 0);
    let text = profile.to_string();
    assert!(text.lines().count() == 2 + 2 * rounds && text.contains("steps.1"), "{text}");
    assert_eq!(Tensor1::<f32>::from_raw(same).to_vec_blocking().unwrap(), ramp(100_000));
    // Profiling ends with the closure, also after panics.
    let panics = std::panic::AssertUnwindSafe(|| device.profile(|| panic!("expected by the test")));
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(device.profile(|| ()).unwrap().1.entries, []);
}

fn fresh_folder(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("fuse-runtime-{name}-{}", std::process::id()));
    drop(fs::remove_dir_all(&folder));
    folder
}

fn files(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    entries.unwrap_or_default()
}

#[test]
fn pipelines_are_kept_on_disk_and_damage_is_ignored() {
    let folder = fresh_folder("cache");
    let open = || Device::builder().pipeline_cache_dir(&folder).build_blocking().unwrap();
    let compute = |device: &Device| {
        let x = Tensor2::from_vec(device, ramp(6), [2, 3]).unwrap();
        let y = Tensor1::from_vec(device, ramp(3), [3]).unwrap();
        let [z] = launch(artifacts::scaled_add(), &[(&x).into(), (&y).into(), 1f32.into()]).unwrap();
        Tensor2::<f32>::from_raw(z).to_vec_blocking().unwrap()
    };
    let device = open();
    let expected = compute(&device);
    device.save_pipeline_cache().unwrap();
    if !device.info().pipeline_cache {
        assert!(files(&folder).is_empty(), "adapters without a pipeline cache write nothing");
        return;
    }
    drop(device);
    let [file] = &files(&folder)[..] else { panic!("one file per adapter: {:?}", files(&folder)) };
    let good = fs::read(file).unwrap();
    for content in [good.clone(), good[..good.len() / 2].to_vec(), b"something else".to_vec(), vec![0; 1 << 16]] {
        fs::write(file, content).unwrap();
        assert_eq!(compute(&open()), expected);
    }
    // Dropping a device replaces the damaged file.
    assert!(fs::read(file).unwrap().starts_with(b"fusepc01"));
    let unwritable = Device::builder().pipeline_cache_dir(file).build_blocking().unwrap();
    compute(&unwritable);
    assert!(matches!(unwritable.save_pipeline_cache(), Err(Error::CacheFile { .. })));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn gpu_time_covers_batches_and_needs_no_pass_per_dispatch() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(100_000), [100_000]).unwrap();
    let function = artifacts::steps(DType::F32);
    let launches = |count: usize| {
        let time = device.gpu_time(|| (0..count).for_each(|_| drop(launch::<2>(function, &[(&x).into()]).unwrap())));
        time.unwrap().1
    };
    // More dispatches than a batch holds; the time grows with the work.
    let (few, many) = (launches(3), launches(300));
    assert!(!few.is_zero() && many > few, "{few:?} for 3 launches, {many:?} for 300");
    assert!(device.gpu_time(|| ()).unwrap().1.is_zero());
}
