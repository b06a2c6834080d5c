//! Captured launches and their replays.

use std::thread;

use fuse_runtime::{
    __private::{RawTensor, launch, launch_into},
    Device, Error, Sequence, Tensor1, Tensor2,
    artifact::DType,
};

use crate::{artifacts, device, ramp};

/// `2·(x + 1)` and `x`, with a temporary.
fn steps(x: &Tensor1<f32>) -> Result<(Tensor1<f32>, Tensor1<f32>), Error> {
    let [double, same] = launch(artifacts_steps(), &[x.into()])?;
    Ok((Tensor1::from_raw(double), Tensor1::from_raw(same)))
}

/// One artifact for all calls, as the macro's `static`.
fn artifacts_steps() -> &'static fuse_runtime::artifact::Function {
    static STEPS: std::sync::OnceLock<&'static fuse_runtime::artifact::Function> = std::sync::OnceLock::new();
    STEPS.get_or_init(|| artifacts::steps(DType::F32))
}

fn scaled_add(x: &Tensor2<f32>, y: &Tensor1<f32>, s: f32) -> Result<Tensor2<f32>, Error> {
    static SCALED_ADD: std::sync::OnceLock<&'static fuse_runtime::artifact::Function> = std::sync::OnceLock::new();
    let function = SCALED_ADD.get_or_init(artifacts::scaled_add);
    let [z] = launch(function, &[x.into(), y.into(), s.into()])?;
    Ok(Tensor2::from_raw(z))
}

/// `depth` times `2·(x + 1)`.
fn chain(x: &Tensor1<f32>, depth: usize) -> Result<Tensor1<f32>, Error> {
    (1..depth).try_fold(steps(x)?.0, |x, _| Ok(steps(&x)?.0))
}

fn chained(x: f32, depth: usize) -> f32 {
    (0..depth).fold(x, |x, _| 2.0 * (x + 1.0))
}

#[test]
fn replays_see_new_contents_and_their_numbers_stay() {
    let device = device();
    let mut x = Tensor2::from_vec(&device, ramp(600), [2, 300]).unwrap();
    let mut y = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    let (sequence, z) = device.capture(|| scaled_add(&scaled_add(&x, &y, 2.0)?, &y, 3.0)).unwrap();
    assert_eq!(sequence.dispatches(), 2);
    for round in 0..5 {
        let add = round as f32;
        x.write(&ramp(600).iter().map(|v| v + add).collect::<Vec<_>>()).unwrap();
        y.write(&[add; 300]).unwrap();
        sequence.replay().unwrap();
        let expected: Vec<f32> = ramp(600).iter().map(|v| 3.0 * (2.0 * (v + add) + add) + add).collect();
        assert_eq!(z.to_vec_blocking().unwrap(), expected, "round {round}");
    }
}

#[test]
fn capturing_runs_nothing_and_values_wait_for_the_first_replay() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(100), [100]).unwrap();
    let mut kept = Tensor1::full(&device, 7f32, [100]).unwrap();
    let other = Tensor1::full(&device, 7f32, [100]).unwrap();
    let (sequence, double) = device
        .capture(|| {
            let (double, _) = steps(&x)?;
            launch_into(artifacts_steps(), &[(&double).into()], &[kept.raw(), other.raw()])?;
            Ok(double)
        })
        .unwrap();
    assert_eq!(kept.to_vec_blocking().unwrap(), [7.0; 100], "nothing ran");
    let text = "has no values yet: its launch was captured; help: call `Sequence::replay` first";
    assert_eq!(double.to_vec_blocking().unwrap_err().to_string(), format!("a tensor of f32[100] {text}"));
    assert_eq!(steps(&double).unwrap_err().to_string(), format!("kernel `steps`, argument `x` {text}"));
    assert!(matches!(pollster::block_on(double.to_vec()), Err(Error::NotReplayed { .. })));
    sequence.replay().unwrap();
    assert_eq!(double.to_vec_blocking().unwrap()[0], 3.0);
    assert_eq!((kept.to_vec_blocking().unwrap()[0], other.to_vec_blocking().unwrap()[0]), (8.0, 3.0));
    // A host write also gives values.
    kept.write(&[1.0; 100]).unwrap();
    assert_eq!(kept.to_vec_blocking().unwrap(), [1.0; 100]);
    let (_unplayed, (mut double, _)) = device.capture(|| steps(&x)).unwrap();
    double.write(&[5.0; 100]).unwrap();
    assert_eq!(double.to_vec_blocking().unwrap(), [5.0; 100]);
}

#[test]
fn tensors_may_drop_before_the_replay() {
    let device = device();
    let (sequence, result) = {
        let x = Tensor1::from_vec(&device, ramp(256), [256]).unwrap();
        device.capture(|| chain(&x, 5)).unwrap()
    };
    let live = device.memory_report().live_buffers;
    // Dropped tensors must not get memory of the sequence.
    for i in 0..50 {
        let other = Tensor1::full(&device, i as f32, [256]).unwrap();
        drop(steps(&other).unwrap());
    }
    assert_eq!(device.memory_report().live_buffers, live);
    sequence.replay().unwrap();
    let expected: Vec<f32> = ramp(256).iter().map(|x| chained(*x, 5)).collect();
    assert_eq!(result.to_vec_blocking().unwrap(), expected);
    drop(sequence);
    assert_eq!(result.to_vec_blocking().unwrap(), expected);
    let x = Tensor1::from_vec(&device, ramp(256), [256]).unwrap();
    let (sequence, result) = device.capture(|| chain(&x, 5)).unwrap();
    drop((x, result));
    sequence.replay().unwrap();
    device.synchronize_blocking().unwrap();
}

#[test]
fn a_sequence_reuses_memory_within_itself() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(256), [256]).unwrap();
    let before = device.memory_report().live_buffers;
    let (sequence, result) = device.capture(|| chain(&x, 40)).unwrap();
    // Per step: input, temporary, two results; and the first step's second result, which `chain` keeps.
    assert!(device.memory_report().live_buffers <= before + 5, "{}", device.memory_report());
    sequence.replay().unwrap();
    let expected: Vec<f32> = ramp(256).iter().map(|x| chained(*x, 40)).collect();
    assert_eq!(result.to_vec_blocking().unwrap(), expected);
    drop((sequence, result));
    assert_eq!(device.memory_report().live_buffers, before);
}

#[test]
fn scratch_memory_belongs_to_the_sequence() {
    let device = device();
    let (a, b) = (Tensor2::full(&device, 1f32, [6, 64]).unwrap(), Tensor2::full(&device, 2f32, [64, 5]).unwrap());
    let a = a.reshape([2, 3, 64]).unwrap();
    device.force_variant(Some("split"));
    let (sequence, [z]) = device.capture(|| launch(artifacts::matmul(), &[(&a).into(), (&b).into()])).unwrap();
    assert_eq!(sequence.dispatches(), 2);
    for _ in 0..3 {
        sequence.replay().unwrap();
        assert_eq!(z.to_bytes_blocking().unwrap(), 128f32.to_le_bytes().repeat(30));
    }
}

#[test]
fn replays_keep_their_place_among_other_work() {
    let device = device();
    let x = Tensor1::zeros(&device, [64]).unwrap();
    let unused = Tensor1::<f32>::zeros(&device, [64]).unwrap();
    let (sequence, y) = device.capture(|| chain(&x, 3)).unwrap();
    let mut value = 0.0;
    // Launches write the next replay's input from the last result, without waiting.
    for _ in 0..6 {
        sequence.replay().unwrap();
        launch_into(artifacts_steps(), &[(&y).into()], &[x.raw(), unused.raw()]).unwrap();
        value = chained(value, 4);
    }
    assert_eq!(x.to_vec_blocking().unwrap(), [value; 64]);
    let (long, z) = device.capture(|| chain(&unused, 15)).unwrap();
    for _ in 0..40 {
        long.replay().unwrap();
    }
    assert_eq!(z.to_vec_blocking().unwrap()[0], chained(unused.to_vec_blocking().unwrap()[0], 15));
}

#[test]
fn host_writes_keep_their_place_among_other_work() {
    let device = device();
    let mut x = Tensor1::zeros(&device, [64]).unwrap();
    let (sequence, y) = device.capture(|| chain(&x, 2)).unwrap();
    let mut seen = vec![];
    for i in 0..100 {
        x.write(&[i as f32; 64]).unwrap();
        sequence.replay().unwrap();
        seen.push(steps(&y).unwrap().1);
    }
    for (i, y) in seen.iter().enumerate() {
        assert_eq!(y.to_vec_blocking().unwrap(), [chained(i as f32, 2); 64], "write {i}");
    }
    let error = x.write(&[0.0; 63]).unwrap_err();
    assert_eq!(error, Error::LengthMismatch { shape: vec![64], expected: 64, found: 63 });
}

#[test]
fn a_thousand_replays_take_no_memory() {
    let device = device();
    let x = Tensor1::from_vec(&device, ramp(1000), [1000]).unwrap();
    let (sequence, y) = device.capture(|| chain(&x, 4)).unwrap();
    sequence.replay().unwrap();
    let before = device.memory_report();
    for _ in 0..1000 {
        sequence.replay().unwrap();
    }
    assert_eq!(device.memory_report(), before);
    assert_eq!(y.to_vec_blocking().unwrap()[0], chained(0.5, 4));
}

#[test]
fn inputs_and_results_can_be_rebound() {
    let device = device();
    let tensor = |value: f32| Tensor1::full(&device, value, [64]).unwrap();
    let (a, b, out) = (tensor(1.0), tensor(2.0), tensor(0.0));
    let (mut sequence, y) = device.capture(|| chain(&a, 3)).unwrap();
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(1.0, 3); 64]);
    sequence.rebind(&a, &b).unwrap();
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(2.0, 3); 64]);
    // The other result moves; the old one keeps its values.
    sequence.rebind(&y, &out).unwrap();
    sequence.rebind(&b, &a).unwrap();
    sequence.replay().unwrap();
    assert_eq!(out.to_vec_blocking().unwrap(), [chained(1.0, 3); 64]);
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(2.0, 3); 64]);
    // Two alternating buffers: y = f(out), out = f(y), …
    sequence.rebind(&a, &y).unwrap();
    sequence.replay().unwrap();
    assert_eq!(out.to_vec_blocking().unwrap(), [chained(2.0, 6); 64]);
    sequence.rebind(&y, &a).unwrap();
    sequence.rebind(&out, &y).unwrap();
    sequence.rebind(&a, &out).unwrap();
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(2.0, 9); 64]);
    let created = device.memory_report().created;
    for _ in 0..100 {
        sequence.rebind(&out, &b).unwrap();
        sequence.rebind(&b, &out).unwrap();
    }
    assert_eq!(device.memory_report().created, created);
}

#[test]
fn rebinding_names_what_does_not_fit() {
    let device = device();
    let tensor = |len: usize| Tensor1::full(&device, 1f32, [len]).unwrap();
    let (x, stranger) = (tensor(64), tensor(64));
    let (mut sequence, y) = device.capture(|| chain(&x, 2)).unwrap();
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    let head = "rebinding a tensor of a sequence: expected";
    assert_eq!(
        text(sequence.rebind(&stranger, &x)),
        format!("{head} a tensor that the sequence uses, found another one, f32[64]")
    );
    assert_eq!(text(sequence.rebind(&x, &tensor(65))), format!("{head} f32[64], found f32[65]"));
    assert_eq!(
        text(sequence.rebind(&x, &y)),
        format!("{head} a tensor that the sequence does not use yet, found kernel `steps`, result 0")
    );
    let integers = RawTensor::from_bytes(&device, DType::I32, &[64], &[0; 256]).unwrap();
    assert_eq!(text(sequence.rebind_raw(x.raw(), &integers)), format!("{head} f32[64], found i32[64]"));
    let elsewhere = Tensor1::full(&self::device(), 1f32, [64]).unwrap();
    assert!(text(sequence.rebind(&x, &elsewhere)).starts_with(&format!("{head} a tensor on the sequence's device")));
    // The sequence is unchanged.
    sequence.rebind(&x, &x).unwrap();
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(1.0, 2); 64]);
}

#[test]
fn what_a_sequence_cannot_repeat_is_refused() {
    let device = device();
    let mut x = Tensor1::from_vec(&device, ramp(64), [64]).unwrap();
    let (inner, _) = device.capture(|| steps(&x)).unwrap();
    let mut refused = |work: &mut dyn FnMut(&mut Tensor1<f32>) -> Result<(), Error>| {
        let outcome = device.capture(|| {
            steps(&x)?;
            work(&mut x)
        });
        match outcome {
            Err(Error::Capturing { what }) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(&mut |x| x.to_vec_blocking().map(drop)), "reading a tensor back");
    assert_eq!(refused(&mut |x| pollster::block_on(x.to_vec()).map(drop)), "reading a tensor back");
    assert_eq!(refused(&mut |x| x.write(&ramp(64))), "writing to a tensor");
    assert_eq!(refused(&mut |x| Tensor1::full(x.device(), 1f32, [3]).map(drop)), "making a tensor of host data");
    assert_eq!(refused(&mut |x| Tensor1::<f32>::zeros(x.device(), [3]).map(drop)), "making a tensor of host data");
    assert_eq!(refused(&mut |x| Tensor1::from_vec(x.device(), ramp(3), [3]).map(drop)), "making a tensor of host data");
    assert_eq!(refused(&mut |x| x.device().submit()), "submitting");
    assert_eq!(refused(&mut |x| x.device().synchronize_blocking()), "waiting for the GPU");
    assert_eq!(refused(&mut |x| x.device().profile(|| ()).map(drop)), "profiling");
    assert_eq!(refused(&mut |x| x.device().capture(|| Ok(())).map(drop)), "another capture");
    assert_eq!(refused(&mut |_| inner.replay()), "replaying a sequence");
    let error = Error::Capturing { what: "submitting" };
    assert_eq!(error.to_string(), "submitting is not possible within `Device::capture`; help: do it before or after");
    // After an error or panic, launches run as always.
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        device.capture(|| -> Result<(), Error> { panic!("in the closure") })
    }));
    assert!(panicked.is_err());
    let live = device.memory_report().live_buffers;
    assert_eq!(steps(&x).unwrap().1.to_vec_blocking().unwrap(), ramp(64));
    assert_eq!(device.memory_report().live_buffers, live);
    let (empty, ()) = device.capture(|| Ok(())).unwrap();
    assert_eq!(empty.dispatches(), 0);
    empty.replay().unwrap();
}

#[test]
fn other_devices_launch_as_always_within_a_capture() {
    let (device, other) = (device(), device());
    let (x, y) = (Tensor1::full(&device, 1f32, [8]).unwrap(), Tensor1::full(&other, 5f32, [8]).unwrap());
    let (sequence, (captured, values)) =
        device.capture(|| Ok((steps(&x)?.0, steps(&y)?.0.to_vec_blocking()?))).unwrap();
    assert_eq!((sequence.dispatches(), values), (2, vec![12.0; 8]));
    sequence.replay().unwrap();
    assert_eq!(captured.to_vec_blocking().unwrap(), [4.0; 8]);
}

#[test]
fn sequences_read_what_others_make() {
    let device = device();
    let x = Tensor1::full(&device, 1f32, [8]).unwrap();
    let (first, y) = device.capture(|| chain(&x, 1)).unwrap();
    let (second, z) = device.capture(|| chain(&y, 1)).unwrap();
    let error = second.replay().unwrap_err();
    assert!(error.to_string().starts_with("kernel `steps`, argument `x` has no values yet"), "{error}");
    first.replay().unwrap();
    second.replay().unwrap();
    assert_eq!(z.to_vec_blocking().unwrap(), [chained(1.0, 2); 8]);
}

#[test]
fn empty_tensors_and_unused_arguments_are_no_problem() {
    let device = device();
    let (x, other) = (Tensor1::<f32>::zeros(&device, [0]).unwrap(), Tensor1::<f32>::zeros(&device, [0]).unwrap());
    let (mut sequence, (double, _)) = device.capture(|| steps(&x)).unwrap();
    assert_eq!(sequence.dispatches(), 0);
    sequence.rebind(&x, &other).unwrap();
    sequence.replay().unwrap();
    assert_eq!(double.to_vec_blocking().unwrap(), [0f32; 0]);
}

#[test]
fn profiles_time_replays() {
    let device = device();
    let x = Tensor1::full(&device, 1f32, [1000]).unwrap();
    let (sequence, y) = device.capture(|| chain(&x, 2)).unwrap();
    let (outcome, profile) = device.profile(|| sequence.replay()).unwrap();
    outcome.unwrap();
    let kernels: Vec<_> = profile.entries.iter().map(|entry| entry.kernel).collect();
    assert_eq!(kernels, ["steps.0", "steps.1", "steps.0", "steps.1"]);
    device.gpu_time(|| sequence.replay()).unwrap().0.unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(1.0, 2); 1000]);
}

#[test]
fn a_lost_device_replays_nothing() {
    let device = device();
    let x = Tensor1::full(&device, 1f32, [8]).unwrap();
    let (mut sequence, y) = device.capture(|| chain(&x, 2)).unwrap();
    sequence.replay().unwrap();
    device.destroy();
    let lost = |result: Result<(), Error>| assert!(matches!(result, Err(Error::DeviceLost { .. })), "{result:?}");
    lost(sequence.replay());
    lost(sequence.rebind(&x, &y));
    lost(device.capture(|| steps(&x)).map(drop));
    lost(Tensor1::clone(&x).write(&[0.0; 8]));
}

fn assert_shareable<T: Send + Sync>() {}

#[test]
fn threads_capture_launch_and_replay_at_once() {
    assert_shareable::<Sequence>();
    let device = device();
    let shared_input = Tensor1::from_vec(&device, ramp(300), [300]).unwrap();
    let (shared, shared_result) = device.capture(|| chain(&shared_input, 4)).unwrap();
    let work = |thread: usize, device: &Device| {
        let start = thread as f32;
        let mut x = Tensor1::full(device, start, [300]).unwrap();
        let (sequence, y) = device.capture(|| chain(&x, 3)).unwrap();
        for round in 0..20 {
            x.write(&[start + round as f32; 300]).unwrap();
            shared.replay().unwrap();
            sequence.replay().unwrap();
            let (double, _) = steps(&y).unwrap();
            assert_eq!(double.to_vec_blocking().unwrap(), [chained(start + round as f32, 4); 300], "thread {thread}");
        }
    };
    thread::scope(|scope| {
        for thread in 0..6 {
            let (work, device) = (&work, &device);
            scope.spawn(move || work(thread, device));
        }
    });
    let expected: Vec<f32> = ramp(300).iter().map(|x| chained(*x, 4)).collect();
    assert_eq!(shared_result.to_vec_blocking().unwrap(), expected);
    // While one thread captures, another's launches run.
    let x = Tensor1::full(&device, 1f32, [8]).unwrap();
    let (sequence, y) = device
        .capture(|| {
            let elsewhere = || steps(&x).unwrap().0.to_vec_blocking().unwrap();
            assert_eq!(thread::scope(|scope| scope.spawn(elsewhere).join().unwrap()), [4.0; 8]);
            chain(&x, 2)
        })
        .unwrap();
    assert_eq!(sequence.dispatches(), 4);
    sequence.replay().unwrap();
    assert_eq!(y.to_vec_blocking().unwrap(), [chained(1.0, 2); 8]);
}
