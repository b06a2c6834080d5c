//! Held values that nothing reads are not stored: they are recomputed at most once, then stored.

use fuse_gpu::{
    Device, Tensor1, Tensor2,
    auto::{Error, FusionConfig, LazyTensor, configure, eval_all, explain, grad, stats},
};

use super::{assert_near, device, lazy};

fn counted(device: &Device, work: impl FnOnce() -> Result<(), Error>) -> Result<(u64, u64), Error> {
    let before = stats(device);
    work()?;
    let after = stats(device);
    Ok((after.launches - before.launches, after.operations - before.operations))
}

#[test]
fn temporaries_are_not_written() -> Result<(), Error> {
    let device = device();
    let [q, k, v] = [1, 2, 3].map(|seed| lazy(&device, [40, 16], seed).0);
    // Rust keeps temporaries until the semicolon.
    for _ in 0..3 {
        let work = || q.matmul(&k.transpose()?)?.softmax(-1)?.matmul(&v)?.eval();
        assert_eq!(counted(&device, work)?, (1, 4));
    }
    let with_names = || {
        let scores = q.matmul(&k.transpose()?)?;
        let weights = scores.softmax(-1)?;
        weights.matmul(&v)?.eval()
    };
    assert_eq!(counted(&device, with_names)?, (1, 4));
    Ok(())
}

#[test]
fn a_step_of_the_readme_is_four_kernels() -> Result<(), Error> {
    let device = device();
    let (x, y) = (lazy(&device, [64, 20], 1).0, lazy(&device, [64, 3], 2).0);
    let mut w = LazyTensor::from(Tensor2::<f32>::zeros(&device, [20, 3])?);
    let mut b = LazyTensor::from(Tensor1::<f32>::zeros(&device, [3])?);
    for _ in 0..3 {
        let error = x.matmul(&w)? + &b - &y;
        let loss = (&error * &error).mean(())?;
        let gradients = grad(&loss, &[&w, &b])?;
        let next = [&w - 0.1 * &gradients[0], &b - 0.1 * &gradients[1]];
        let explained = explain(&[&loss, &next[0], &next[1]])?;
        assert_eq!((explained.plan.groups.len(), explained.written.len()), (4, 0), "{}", explained.source);
        assert_eq!(explained.left.len(), 2, "{}", explained.source);
        let work = || eval_all(&[&loss, &next[0], &next[1]]);
        assert_eq!(counted(&device, work)?.0, 4);
        [w, b] = next;
        loss.to_vec_blocking::<f32>()?;
    }
    Ok(())
}

#[test]
fn it_is_computed_again_once() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [40], 9);
    let a = x.exp()?;
    let b = a.add(1.0)?;
    drop(a.mul(3.0)?);
    let c = {
        let inner = b.log()?;
        inner.mul(2.0)?
    };
    drop(b);
    assert_eq!(counted(&device, || c.eval())?, (1, 4));
    assert!(!a.is_evaluated()?, "held, and not asked for");
    let expected: Vec<f32> = values.iter().map(|x| 2.0 * (x.exp() + 1.0).ln()).collect();
    assert_near(&c.to_vec_blocking::<f32>()?, &expected, 1e-5);
    let d = a.add(&c)?;
    assert_eq!(explain(&[&d])?.written, [0]);
    assert_eq!(counted(&device, || d.eval())?.1, 2);
    assert!(a.is_evaluated()?);
    assert_eq!(counted(&device, || a.sub(&c)?.eval())?.1, 1);
    let h = x.dropout(0.5, 7)?;
    let total = h.sum(())?.to_vec_blocking::<f32>()?[0];
    assert!(!h.is_evaluated()?);
    assert_near(&[h.to_vec_blocking::<f32>()?.iter().sum()], &[total], 1e-4);
    Ok(())
}

#[test]
fn a_loop_computes_nothing_twice_from_its_second_round_on() -> Result<(), Error> {
    let device = device();
    let x = lazy(&device, [12, 6], 1).0;
    let round = || -> Result<(), Error> {
        let h = x.exp()?;
        let y = h.sum(1)?;
        y.eval()?;
        h.to_vec_blocking::<f32>()?;
        Ok(())
    };
    let operations: Vec<u64> =
        (0..4).map(|_| counted(&device, round).map(|(_, operations)| operations)).collect::<Result<_, _>>()?;
    assert_eq!(operations, [3, 2, 2, 2]);
    // Once no longer needed, it is stored a last time.
    let written = || -> Result<(usize, usize), Error> {
        let h = x.exp()?;
        let y = h.sum(1)?;
        let explained = explain(&[&y])?;
        y.eval()?;
        Ok((explained.written.len(), explained.left.len()))
    };
    assert_eq!([written()?, written()?, written()?], [(1, 0), (0, 1), (0, 1)]);
    Ok(())
}

#[test]
fn a_state_that_nobody_asks_for_makes_no_chain() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [5], 2);
    let (mut state, mut operations) = (x.clone(), vec![]);
    let mut expected = values.clone();
    for _ in 0..40 {
        state = (&state * 0.5).sin()?;
        let y = state.sum(())?;
        operations.push(counted(&device, || y.eval())?.1);
        expected.iter_mut().for_each(|x| *x = (*x * 0.5).sin());
        assert_near(&y.to_vec_blocking::<f32>()?, &[expected.iter().sum()], 1e-5);
    }
    assert!(
        operations[..4].iter().all(|&count| count <= 5) && operations[4..].iter().all(|&count| count == 3),
        "{operations:?}"
    );
    assert_near(&state.to_vec_blocking::<f32>()?, &expected, 1e-5);
    let (mut w, mut total) = (x.clone(), LazyTensor::from(Tensor1::<f32>::zeros(&device, [1])?));
    let mut operations = vec![];
    for _ in 0..20 {
        let loss = (&w * &w).sum(())?;
        total = &total + &loss;
        let next = &w - 0.1 * grad(&loss, &[&w])?.remove(0);
        operations.push(counted(&device, || next.eval())?.1);
        w = next;
    }
    assert!(operations.iter().all(|&count| count <= 6), "{operations:?}");
    let sum: f32 = (0..20).map(|step| values.iter().map(|x| (x * 0.8f32.powi(step)).powi(2)).sum::<f32>()).sum();
    assert_near(&total.to_vec_blocking::<f32>()?, &[sum], 1e-4);
    Ok(())
}

#[test]
fn memory_that_only_held_values_keep_alive_is_bounded() -> Result<(), Error> {
    const BYTES: u64 = 4 << 16;
    let of_device = Device::builder().memory_budget(64 * BYTES).build_blocking()?;
    let configured = device();
    configure(&configured, FusionConfig { max_pending_bytes: 8 * BYTES, ..FusionConfig::default() });
    for device in [configured, of_device] {
        let (mut left, mut kept) = (vec![], vec![]);
        let mut most = 0;
        for step in 0..60 {
            let x = LazyTensor::from(Tensor1::full(&device, step as f32, [1 << 16])?);
            // One sum is read and one is not; both refer to their large source.
            let y = &x + 1.0;
            kept.push(y.sum(())?);
            left.push(y.mean(())?);
            let both = y.amax(())?.add(&left[step])?;
            both.eval()?;
            kept[step].eval()?;
            most = most.max(device.memory_report().live_bytes);
        }
        assert!(most <= 16 * BYTES, "{most} bytes for {BYTES} a step");
        for (step, value) in left.iter().enumerate() {
            assert_eq!(value.to_vec_blocking::<f32>()?, [step as f32 + 1.0]);
        }
    }
    Ok(())
}

#[test]
fn long_loops_compile_nothing_after_a_few_rounds() -> Result<(), Error> {
    let device = device();
    let (start, values) = lazy(&device, [7, 5], 1);
    let mut misses = vec![];
    for _ in 0..7 {
        // Beyond the pending limit, so that evaluations end within a step.
        let mut x = start.clone();
        for _ in 0..60 {
            let row = &x + x.roll(0, 1)? + x.roll(0, -1)?;
            let all = &row + row.roll(1, 1)? + row.roll(1, -1)?;
            x = all.mul(0.1)?.tanh()?;
        }
        assert_near(&x.to_vec_blocking::<f32>()?, &generations(&values, [7, 5], 60), 1e-5);
        misses.push(stats(&device).misses);
    }
    assert_eq!(misses[3..], [misses[3]; 4], "{misses:?}");
    Ok(())
}

fn generations(values: &[f32], [rows, columns]: [usize; 2], steps: usize) -> Vec<f32> {
    let mut x: Vec<f64> = values.iter().map(|&x| x.into()).collect();
    for _ in 0..steps {
        let around = |row: usize, column: usize| -> f64 {
            let places = (0..3)
                .flat_map(|i| (0..3).map(move |j| [(row + i + rows - 1) % rows, (column + j + columns - 1) % columns]));
            places.map(|[row, column]| x[row * columns + column]).sum()
        };
        x = (0..rows * columns).map(|place| (0.1 * around(place / columns, place % columns)).tanh()).collect();
    }
    x.into_iter().map(|x| x as f32).collect()
}
