//! Counts of writes to tensors, and holders of their memory.

use fuse_runtime::{
    __private::{Arg, RawTensor, launch, launch_dynamic, launch_into, launch_into_vec},
    Device, Error, QTensor, QuantScheme, Tensor1,
    artifact::{DType, Function},
};

use crate::{artifacts, device, ramp};

/// `2·(x + 1)` and `x`; one artifact for all calls.
fn steps() -> &'static Function {
    static STEPS: std::sync::OnceLock<&'static Function> = std::sync::OnceLock::new();
    STEPS.get_or_init(|| artifacts::steps(DType::F32))
}

/// `x + 1`, in place.
fn increment(x: &Tensor1<f32>) -> Result<(), Error> {
    static INCREMENT: std::sync::OnceLock<&'static Function> = std::sync::OnceLock::new();
    launch::<0>(INCREMENT.get_or_init(artifacts::increment), &[x.into()]).map(drop)
}

fn full(device: &Device, value: f32) -> Tensor1<f32> {
    Tensor1::full(device, value, [64]).unwrap()
}

fn writes(tensors: &[&Tensor1<f32>]) -> Vec<u64> {
    tensors.iter().map(|tensor| tensor.raw().writes()).collect()
}

#[test]
fn what_a_tensor_is_made_with_and_what_reads_it_does_not_count() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(64), [64]).unwrap();
    let [double, same] = launch(steps(), &[(&x).into()]).unwrap().map(Tensor1::<f32>::from_raw);
    let zeros = Tensor1::<f32>::zeros(&device, [64]).unwrap();
    let copy = x.copy().unwrap();
    let all = [&x, &double, &same, &zeros, &copy];
    assert_eq!(writes(&all), [0; 5]);
    for tensor in all {
        tensor.to_vec_blocking().unwrap();
        pollster::block_on(tensor.to_vec()).unwrap();
        tensor.copy().unwrap();
        launch::<2>(steps(), &[tensor.into()]).unwrap();
        let (sequence, _) = device.capture(|| launch::<2>(steps(), &[tensor.into()])).unwrap();
        sequence.replay().unwrap();
        QTensor::<fuse_runtime::Q8, 1>::quantize_tensor_blocking(tensor, &QuantScheme::symmetric()).unwrap();
        assert_eq!((tensor.clone().raw().writes(), tensor.reshape([8, 8]).unwrap().raw().writes()), (0, 0));
    }
    assert_eq!(writes(&all), [0; 5]);
    // Recycled memory counts anew.
    let mut first = full(&device, 1.0);
    first.write(&[2.0; 64]).unwrap();
    drop(first);
    assert_eq!(full(&device, 3.0).raw().writes(), 0);
}

#[test]
fn host_writes_count_where_they_go_and_what_follows_a_tensor_shares_its_count() {
    let device = device();
    let mut x = full(&device, 1.0);
    let (clone, square, follower) = (x.clone(), x.reshape([8, 8]).unwrap(), x.raw().follow());
    x.write(&ramp(64)).unwrap();
    assert_eq!((x.raw().writes(), clone.raw().writes(), square.raw().writes()), (1, 0, 0));
    assert_eq!((follower.writes(), follower.clone().writes()), (1, 1));
    assert_eq!(Tensor1::<f32>::from_raw(follower.value()).to_vec_blocking().unwrap(), ramp(64));
    // In place, for whoever shares the memory.
    square.raw().overwrite(&[0; 256]).unwrap();
    assert_eq!((x.raw().writes(), clone.raw().writes(), square.raw().writes()), (1, 1, 1));
    assert_eq!(clone.reshape([4, 16]).unwrap().raw().writes(), 1);
    // Refused writes do not count.
    x.write(&ramp(63)).unwrap_err();
    device.capture(|| x.write(&ramp(64))).unwrap_err();
    assert_eq!(x.raw().writes(), 1);
}

/// Steady-state loops must not allocate or copy.
#[test]
fn tensors_that_nobody_shares_stay_where_they_are() {
    let device = device();
    let (mut x, input) = (full(&device, 1.0), full(&device, 0.0));
    let follower = x.raw().follow();
    let (sequence, ()) = device.capture(|| x.own().and_then(|()| increment(&x))).unwrap();
    let requests = device.memory_report().requests;
    for round in 0..10 {
        x.own().unwrap();
        increment(&x).unwrap();
        x.write(&[round as f32; 64]).unwrap();
        sequence.replay().unwrap();
        drop(input.clone());
    }
    assert_eq!(device.memory_report().requests, requests);
    assert_eq!((x.to_vec_blocking().unwrap()[0], follower.writes()), (10.0, 30));
}

#[test]
fn a_clone_that_finds_no_memory_is_an_error_of_the_next_call() {
    let device = Device::builder().without_pipeline_cache().memory_budget(600).build_blocking().unwrap();
    let (x, fill) = (full(&device, 1.0), full(&device, 2.0));
    let (_sequence, ()) = device.capture(|| increment(&x)).unwrap();
    let clone = x.clone();
    assert!(matches!(clone.to_vec_blocking(), Err(Error::BudgetExceeded { .. })));
    drop(fill);
    assert_eq!(x.clone().to_vec_blocking().unwrap(), [1.0; 64]);
}

#[test]
fn launches_into_a_tensor_count() {
    let device = device();
    let (x, y, z) = (full(&device, 1.0), full(&device, 0.0), full(&device, 0.0));
    for round in 1..4 {
        launch_into(steps(), &[(&x).into()], &[y.raw(), z.raw()]).unwrap();
        assert_eq!(writes(&[&x, &y, &z]), [0, round, round]);
    }
    launch_into(steps(), &[(&x).into()], &[y.raw(), x.raw()]).unwrap_err();
    launch_into(steps(), &[(&x).into()], &[y.raw()]).unwrap_err();
    assert_eq!(writes(&[&x, &y, &z]), [0, 3, 3]);
}

#[test]
fn updates_in_place_count() {
    let device = device();
    let x = full(&device, 1.0);
    for round in 1..4 {
        increment(&x).unwrap();
        assert_eq!(x.raw().writes(), round);
    }
    assert_eq!(x.to_vec_blocking().unwrap(), [4.0; 64]);
}

#[test]
fn replays_count_for_all_that_they_write() {
    let device = device();
    let (x, state, y, z) = (full(&device, 1.0), full(&device, 0.0), full(&device, 0.0), full(&device, 0.0));
    let capture = || {
        let [result, other] = launch(steps(), &[(&x).into()])?.map(Tensor1::<f32>::from_raw);
        increment(&state)?;
        // Each tensor counts once per replay, however often it is written.
        increment(&result)?;
        launch_into(steps(), &[(&state).into()], &[y.raw(), z.raw()])?;
        Ok((result, other))
    };
    let (sequence, (result, other)) = device.capture(capture).unwrap();
    assert_eq!(writes(&[&x, &state, &y, &z, &result, &other]), [0; 6], "nothing ran");
    for round in 1..4 {
        sequence.replay().unwrap();
        assert_eq!(writes(&[&state, &y, &z, &result, &other]), [round; 5]);
        assert_eq!(x.raw().writes(), 0);
    }
    assert_eq!((state.to_vec_blocking().unwrap()[0], result.to_vec_blocking().unwrap()[0]), (3.0, 5.0));
    // Refused replays do not count.
    device.capture(|| sequence.replay()).unwrap_err();
    assert_eq!(writes(&[&state, &result]), [3, 3]);
}

#[test]
fn sequences_write_what_is_rebound() {
    let device = device();
    let (x, state, next, output) = (full(&device, 1.0), full(&device, 0.0), full(&device, 10.0), full(&device, 0.0));
    let capture = || {
        increment(&state)?;
        launch::<2>(steps(), &[(&x).into()]).map(|results| results.map(Tensor1::<f32>::from_raw))
    };
    let (mut sequence, [result, _]) = device.capture(capture).unwrap();
    sequence.replay().unwrap();
    sequence.rebind(&state, &next).unwrap();
    sequence.rebind(&result, &output).unwrap();
    sequence.rebind(&x, &state).unwrap();
    assert_eq!(writes(&[&x, &state, &next, &result, &output]), [0, 1, 0, 1, 0], "rebinding writes nothing");
    sequence.replay().unwrap();
    assert_eq!(writes(&[&x, &state, &next, &result, &output]), [0, 1, 1, 1, 1]);
    assert_eq!((next.to_vec_blocking().unwrap()[0], output.to_vec_blocking().unwrap()[0]), (11.0, 4.0));
}

#[test]
fn updates_in_a_sequence_need_what_another_one_makes() {
    let device = device();
    let x = full(&device, 1.0);
    let (first, [result, _]) =
        device.capture(|| Ok(launch(steps(), &[(&x).into()])?.map(Tensor1::<f32>::from_raw))).unwrap();
    let (second, ()) = device.capture(|| increment(&result)).unwrap();
    assert!(matches!(second.replay(), Err(Error::NotReplayed { .. })));
    first.replay().unwrap();
    second.replay().unwrap();
    assert_eq!((result.raw().writes(), result.to_vec_blocking().unwrap()[0]), (2, 5.0));
}

#[test]
fn holders_are_clones_reshaped_tensors_and_sequences() {
    let device = device();
    let x = full(&device, 1.0);
    let holders = || x.raw().lease_holders();
    assert_eq!(holders(), 1);
    let clone = x.clone();
    let square = clone.reshape([8, 8]).unwrap();
    assert_eq!((holders(), square.raw().lease_holders()), (3, 3));
    drop((clone, square));
    // A recorded launch holds nothing: memory may serve again while commands use it.
    launch::<2>(steps(), &[(&x).into()]).unwrap();
    x.to_vec_blocking().unwrap();
    assert_eq!(holders(), 1);
    let (sequence, _) = device.capture(|| launch::<2>(steps(), &[(&x).into()])).unwrap();
    assert_eq!(holders(), 2);
    drop(sequence);
    assert_eq!(holders(), 1);
}

#[test]
fn results_are_appended_to_a_list_that_serves_again() {
    let device = device();
    let x = full(&device, 1.0);
    let args = [Arg::from(&x)];
    let values = |tensors: &[RawTensor]| -> Vec<f32> {
        tensors.iter().map(|tensor| Tensor1::from_raw(tensor.clone()).to_vec_blocking().unwrap()[0]).collect()
    };
    let mut results = Vec::with_capacity(4);
    let place = results.as_ptr();
    for _ in 0..3 {
        results.clear();
        launch_into_vec(&steps().into(), &args, &mut results).unwrap();
        launch_into_vec(&steps().into(), &args, &mut results).unwrap();
        assert_eq!(values(&results), [4.0, 1.0, 4.0, 1.0]);
    }
    assert_eq!((results.as_ptr(), results.capacity()), (place, 4));
    assert_eq!(values(&launch_dynamic(steps(), &args).unwrap()), [4.0, 1.0]);
    results.truncate(1);
    let (sequence, ()) = device.capture(|| launch_into_vec(&steps().into(), &args, &mut results)).unwrap();
    assert!(matches!(results[1].to_bytes_blocking(), Err(Error::NotReplayed { .. })));
    sequence.replay().unwrap();
    assert_eq!(values(&results), [4.0, 4.0, 1.0]);
}

#[test]
fn a_launch_that_fails_appends_nothing() {
    // Room for the argument and the first result.
    let device = Device::builder().without_pipeline_cache().memory_budget(600).build_blocking().unwrap();
    let x = full(&device, 1.0);
    let mut results = vec![x.raw().clone()];
    let error = launch_into_vec(&steps().into(), &[(&x).into()], &mut results).unwrap_err();
    assert!(matches!(error, Error::BudgetExceeded { .. }), "{error}");
    launch_into_vec(&steps().into(), &[], &mut results).unwrap_err();
    assert_eq!((results.len(), device.memory_report().live_buffers), (1, 1));
}
