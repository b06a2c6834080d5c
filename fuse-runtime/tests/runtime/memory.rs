//! The pool: reuse, hazards, budget, reports, steady state.

use fuse_runtime::{
    __private::{Arg, launch, launch_into},
    Device, Error, MemoryReport, Tensor1, Tensor2,
    artifact::DType,
};

use crate::{artifacts, device, ramp};

#[test]
fn steady_state_creates_no_buffers() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(1000), [1000]).unwrap();
    let function = artifacts::steps(DType::F32);
    let round = || {
        let [a, _] = launch(function, &[(&x).into()]).unwrap();
        let [b, _] = launch(function, &[(&a).into()]).unwrap();
        drop(b);
    };
    round();
    let created = device.memory_report().created;
    for _ in 0..500 {
        round();
    }
    let report = device.memory_report();
    assert_eq!(report.created, created);
    assert_eq!((report.live_buffers, report.live_bytes), (1, 4096));
    device.synchronize_blocking().unwrap();
}

#[test]
fn uploads_never_overtake_recorded_work() {
    let device = device();
    let function = artifacts::steps(DType::F32);
    let mut results = Vec::new();
    for i in 0..200 {
        let x = Tensor1::full(&device, i as f32, [256]).unwrap();
        let [double, _] = launch(function, &[(&x).into()]).unwrap();
        // Recorded work still uses the free input: the next upload must not take its memory.
        drop(x);
        results.push(Tensor1::<f32>::from_raw(double));
    }
    for (i, result) in results.iter().enumerate() {
        assert_eq!(result.to_vec_blocking().unwrap(), [2.0 * (i as f32 + 1.0); 256], "upload {i}");
    }
}

#[test]
fn zeros_are_zero_in_recycled_memory() {
    let device = device();
    for _ in 0..3 {
        let dirty = Tensor1::<f32>::full(&device, 7.0, [300]).unwrap();
        assert_eq!(dirty.to_vec_blocking().unwrap(), [7.0; 300]);
        drop(dirty);
        let zeros = Tensor1::<f32>::zeros(&device, [300]).unwrap();
        assert_eq!(zeros.to_vec_blocking().unwrap(), [0.0; 300]);
    }
}

#[test]
fn results_survive_the_reuse_of_their_inputs() {
    let device = device();
    let function = artifacts::scaled_add();
    let y = Tensor1::from_vec(&device, vec![1.0; 64], [64]).unwrap();
    let mut x = Tensor2::from_vec(&device, vec![0.0; 64 * 64], [64, 64]).unwrap();
    for _ in 0..300 {
        let [z] = launch(function, &[(&x).into(), (&y).into(), 1f32.into()]).unwrap();
        x = Tensor2::from_raw(z);
    }
    assert_eq!(x.to_vec_blocking().unwrap(), vec![300.0; 64 * 64]);
}

#[test]
fn the_budget_holds_and_idle_memory_gives_way() {
    let device = Device::builder().memory_budget(1 << 20).without_pipeline_cache().build_blocking().unwrap();
    let half = Tensor1::<f32>::zeros(&device, [1 << 17]).unwrap();
    let error = Tensor1::<f32>::zeros(&device, [(1 << 17) + 1]).unwrap_err();
    assert!(matches!(error, Error::BudgetExceeded { live, budget, .. } if live == 1 << 19 && budget == 1 << 20));
    drop(half);
    assert_eq!(device.memory_report().idle_bytes, 1 << 19);
    let other = Tensor1::<f32>::zeros(&device, [(1 << 17) + 1]).unwrap();
    let report = device.memory_report();
    assert_eq!((report.idle_bytes, report.live_bytes > 1 << 19), (0, true));
    // A launch that does not fit leaves the device usable.
    let failed = launch::<2>(artifacts::steps(DType::F32), &[(&other).into()]).unwrap_err();
    assert!(matches!(failed, Error::BudgetExceeded { .. }), "{failed}");
    drop(other);
    Tensor1::<f32>::zeros(&device, [1 << 17]).unwrap();
}

#[test]
fn reports_add_up_and_trim_frees() {
    let device = device();
    let (a, b) = (Tensor1::<f32>::zeros(&device, [100]).unwrap(), Tensor1::<f32>::zeros(&device, [1000]).unwrap());
    let shared = a.clone();
    let report = device.memory_report();
    assert_eq!((report.live_buffers, report.live_bytes, report.requests), (2, 448 + 4096, 2));
    drop((a, b));
    let report = device.memory_report();
    assert_eq!((report.live_buffers, report.idle_buffers, report.peak_bytes), (1, 1, 448 + 4096));
    assert_eq!(report.to_string().lines().next(), Some("live: 448 B in 1 buffers"));
    device.trim();
    assert_eq!(device.memory_report().idle_buffers, 0);
    assert_eq!(shared.to_vec_blocking().unwrap(), [0.0; 100]);
}

#[test]
fn launching_into_the_same_outputs_takes_no_memory() {
    let device = device();
    let function = artifacts::scaled_add();
    let x = Tensor2::from_vec(&device, ramp(600), [2, 300]).unwrap();
    let y = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    let z = Tensor2::<f32>::zeros(&device, [2, 300]).unwrap();
    let requests = device.memory_report().requests;
    for _ in 0..100 {
        let args: [Arg<'_>; 3] = [(&x).into(), (&y).into(), 2f32.into()];
        launch_into(function, &args, &[z.raw()]).unwrap();
    }
    assert_eq!(device.memory_report().requests, requests);
    assert_eq!(z.to_vec_blocking().unwrap()[1], 3.0 * 1.5);
}

#[test]
fn trimming_spares_recorded_work() {
    let device = device();
    let function = artifacts::steps(DType::F32);
    for round in 0..20 {
        let x = Tensor1::full(&device, round as f32, [256]).unwrap();
        let [double, _] = launch(function, &[(&x).into()]).unwrap();
        drop(x);
        // Frees `x`, the temporary and the second result, which recorded work still uses.
        device.trim();
        let double = Tensor1::<f32>::from_raw(double);
        assert_eq!(double.to_vec_blocking().unwrap(), [2.0 * (round as f32 + 1.0); 256]);
        device.trim();
        assert_eq!(device.memory_report().idle_buffers, 0);
    }
}

/// Nine sizes, then a tenth again and again.
#[test]
fn what_was_used_longest_ago_gives_way() {
    let device = device();
    let launch_once = |rows: usize| {
        let x = Tensor1::<f32>::zeros(&device, [rows << 18]).unwrap();
        drop(launch::<2>(artifacts::steps(DType::F32), &[(&x).into()]).unwrap());
    };
    for rows in [8, 9, 11, 13, 16, 19, 22, 26, 31] {
        launch_once(rows);
    }
    launch_once(10);
    let created = device.memory_report().created;
    for _ in 0..20 {
        launch_once(10);
    }
    assert_eq!(device.memory_report().created, created, "{}", device.memory_report());
    device.synchronize_blocking().unwrap();
}

/// Limit of held memory at a peak of live memory.
fn bound(report: &MemoryReport) -> u64 {
    2 * report.peak_bytes + (64 << 20)
}

fn held(report: &MemoryReport) -> u64 {
    report.live_bytes + report.idle_bytes + report.freed_bytes
}

#[test]
fn sizes_without_end_need_no_buffers_without_end() {
    let device = device();
    let mut numbers = Lcg(1);
    let shapes: Vec<[usize; 2]> = (0..500).map(|_| [numbers.below(1500), numbers.below(1500)]).collect();
    let mut created = [0; 2];
    for created in &mut created {
        let before = device.memory_report().created;
        for &[rows, columns] in &shapes {
            let x = Tensor2::<f32>::zeros(&device, [rows, columns]).unwrap();
            let y = Tensor1::<f32>::zeros(&device, [columns]).unwrap();
            let [z] = launch(artifacts::scaled_add(), &[(&x).into(), (&y).into(), 2f32.into()]).unwrap();
            drop(launch::<1>(artifacts::scaled_add(), &[(&z).into(), (&y).into(), 2f32.into()]).unwrap());
            let report = device.memory_report();
            assert!(held(&report) <= bound(&report), "{rows}x{columns}: {report}");
        }
        *created = device.memory_report().created - before;
    }
    assert!(created[0] < 200 && created[1] == 0, "{created:?} buffers created: {}", device.memory_report());
    device.synchronize_blocking().unwrap();
}

#[test]
fn changing_sizes_stay_within_the_budget() {
    const BUDGET: u64 = 48 << 20;
    let device = Device::builder().memory_budget(BUDGET).without_pipeline_cache().build_blocking().unwrap();
    for i in 0..300usize {
        // Without readback, batches end only when long or when memory is short.
        let x = Tensor1::full(&device, i as f32, [(1 << 20) + (i * 7919) % (1 << 20)]).unwrap();
        drop(launch::<2>(artifacts::steps(DType::F32), &[(&x).into()]).unwrap());
        let report = device.memory_report();
        assert!(held(&report) <= BUDGET, "round {i}: {report}");
    }
    device.synchronize_blocking().unwrap();
}

#[test]
fn freed_memory_is_counted_until_it_is_gone() {
    let device = device();
    let x = Tensor1::full(&device, 1.0f32, [1 << 20]).unwrap();
    drop(launch::<2>(artifacts::steps(DType::F32), &[(&x).into()]).unwrap());
    drop(x);
    let idle = device.memory_report().idle_bytes;
    device.trim();
    let report = device.memory_report();
    assert!(idle > 0 && report.idle_bytes == 0 && report.freed_bytes <= idle, "{report}");
    device.synchronize_blocking().unwrap();
    assert_eq!(held(&device.memory_report()), 0, "{}", device.memory_report());
}

/// Pseudorandom numbers.
struct Lcg(u64);

impl Lcg {
    /// From 1 to `end`.
    fn below(&mut self, end: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end + 1) as usize
    }
}
