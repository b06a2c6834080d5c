//! Edge cases of long-running programs: odd sizes, values and orders, and large numbers of things.

use fuse_gpu::{
    Device, Tensor1, Tensor2, Tensor3,
    auto::{DType, Error, FusionConfig, LazyTensor, Over, configure, eval_all, stats, with_config},
};

use super::{assert_near, device, lazy, random};

const PATIENT: u32 = 100_000;

fn patient(device: &Device) {
    configure(device, FusionConfig { max_pending: PATIENT, ..FusionConfig::default() });
}

/// Fused values equal those of one kernel per operation; NaN equals NaN.
fn same_unfused(device: &Device, record: impl Fn() -> Result<Vec<LazyTensor>, Error>) -> Result<Vec<Vec<f32>>, Error> {
    let run = || -> Result<Vec<Vec<f32>>, Error> {
        let values = record()?;
        eval_all(&values.iter().collect::<Vec<_>>())?;
        values.iter().map(LazyTensor::to_vec_blocking).collect()
    };
    let fused = run()?;
    let off = FusionConfig { enabled: false, max_pending: PATIENT, ..FusionConfig::default() };
    let unfused = with_config(device, off, run)?;
    for (number, (a, b)) in fused.iter().zip(&unfused).enumerate() {
        assert_eq!(a.len(), b.len(), "value {number}");
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            let near = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-5 * (1.0 + b.abs());
            assert!(near, "value {number}, element {at}: {a} fused, {b} unfused");
        }
    }
    Ok(fused)
}

fn product(a: &[f32], b: &[f32], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let at = |i: usize| (0..k).map(|j| f64::from(a[i / n * k + j]) * f64::from(b[j * n + i % n])).sum();
    (0..m * n).map(at).collect()
}

fn to_f32(values: impl IntoIterator<Item = f64>) -> Vec<f32> {
    values.into_iter().map(|x| x as f32).collect()
}

#[test]
fn sizes_nobody_tuned_for() -> Result<(), Error> {
    let device = device();
    for [m, k, n] in [[1, 1, 1], [17, 1, 3], [1, 129, 1], [127, 31, 65], [2, 1000, 5], [0, 3, 4], [3, 0, 4], [4, 3, 0]]
    {
        let ((a, left), (b, right)) = (lazy(&device, [m, k], 1), lazy(&device, [k, n], 2));
        let (c, more) = lazy(&device, [n], 3);
        let y = (a.matmul(&b)? + &c).tanh()?;
        let expected = product(&left, &right, [m, k, n]);
        let expected = expected.iter().enumerate().map(|(at, x)| (x + f64::from(more[at % n])).tanh());
        let expected = to_f32(expected);
        assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
        let sums = (&y * 2.0).sum(0)?;
        let of = |column: usize| expected.iter().skip(column).step_by(n).map(|&x| 2.0 * f64::from(x)).sum();
        assert_near(&sums.to_vec_blocking::<f32>()?, &to_f32((0..n).map(of)), 1e-5);
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn values_that_change_rank() -> Result<(), Error> {
    let device = device();
    for [a, b, c] in [[2, 3, 4], [1, 3, 4], [5, 1, 1], [1, 1, 1], [0, 2, 3], [7, 11, 2]] {
        let (x, values) = lazy(&device, [a, b, c], 4);
        let y = x.reshape([a * b, c])?.transpose()?.unsqueeze(0)?.unsqueeze(-1)?.reshape([c, a, b])?;
        let z = y.permute(&[1, 2, 0])?.mul(2.0)?.flip(&[0, 2])?;
        let whole = LazyTensor::concat(&[&z, &x, &z], 1)?.pad(2, 1usize, 2usize, 0.5)?.roll(1, 2)?;
        let layers = LazyTensor::stack(&[&whole, &whole.neg()?], 0)?;
        let total = layers.abs()?.sum([1, 3])?.reshape([2 * 3 * b])?;
        let magnitude = |x: &f32| f64::from(x.abs());
        let row = |at: usize| -> f64 {
            // Rolled by 2: the pieces are `z`, `x` and `z`, with `z` a permutation of `x` along the other axes.
            let from = (at + 3 * b - 2 % (3 * b)) % (3 * b);
            let scale = if (b..2 * b).contains(&from) { 1.0 } else { 2.0 };
            let sum: f64 = (0..a)
                .flat_map(|i| (0..c).map(move |k| (i * b + from % b) * c + k))
                .map(|i| magnitude(&values[i]))
                .sum();
            scale * sum + 1.5 * a as f64
        };
        let expected = to_f32((0..2).flat_map(|_| (0..3 * b).map(row)));
        assert_near(&total.to_vec_blocking::<f32>()?, &expected, 1e-5);
        let one = x.sum(())?.unsqueeze(0)?.reshape([0usize; 0])?.broadcast_to([2, 3])?.mean(())?;
        assert_near(&one.to_vec_blocking::<f32>()?, &to_f32([values.iter().map(|&x| f64::from(x)).sum()]), 1e-5);
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn nothing_and_one() -> Result<(), Error> {
    let device = device();
    for shape in [[0, 4], [4, 0], [0, 0], [1, 4], [4, 1], [1, 1], [3, 3]] {
        let (x, w) =
            (LazyTensor::from(&random(&device, shape, 5)), LazyTensor::from(&random(&device, [shape[1], 3], 6)));
        let found = same_unfused(&device, || {
            let h = (x.matmul(&w)? - 1.0).relu()?;
            let shifted = &h - h.amax(Over::from(1).keep())?;
            let joined = LazyTensor::concat(&[&x, &x], 0)?;
            Ok(vec![
                h.softmax(1)?,
                shifted.exp()?.sum(1)?.log()?,
                joined.sum(0)?,
                joined.prod(1)?,
                x.slice(0, 0, 0)?.sum(())?,
                x.mean(())?,
                x.exp()?.sum(())?,
                x.transpose()?.mul(&x.transpose()?)?.sum(0)?,
            ])
        })?;
        assert_eq!((found[4].as_slice(), found[5].len()), ([0.0].as_slice(), 1));
        if shape[1] == 0 {
            assert!(found[3].iter().all(|&product| product == 1.0), "products of nothing");
        }
    }
    let (x, _) = lazy(&device, [0, 3], 7);
    assert!(x.embedding(&LazyTensor::from(&Tensor1::from_vec(&device, vec![0], [1])?)).is_err(), "a row of no rows");
    assert_eq!(x.reshape([3, 0])?.exp()?.to_vec_blocking::<f32>()?.len(), 0);
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn numbers_that_are_none() -> Result<(), Error> {
    let device = device();
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, f32::MAX, f32::MIN_POSITIVE, 1.0, -2.5];
    let x = LazyTensor::from(&Tensor1::from_vec(&device, odd.to_vec(), [9])?);
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, 3.0] {
        let found = same_unfused(&device, || {
            let known = x.isnan()?.select(0.0, &x)?;
            let finite = x.isfinite()?.select(&x, 1.0)?;
            Ok(vec![
                &x + number,
                &x * number,
                known.exp()?,
                finite.abs()?.add(1.0)?.log()?,
                x.isnan()?.or(&x.isinf()?)?.cast(DType::F32)?,
                (finite * number).isnan()?.cast(DType::F32)?.sum(())?,
            ])
        })?;
        for (at, &value) in odd.iter().enumerate() {
            let same = |found: f32, expected: f32| found == expected || found.is_nan() && expected.is_nan();
            assert!(same(found[0][at], value + number), "{value} + {number}: {}", found[0][at]);
            assert!(same(found[1][at], value * number), "{value} * {number}: {}", found[1][at]);
            assert_eq!(found[4][at] == 1.0, !value.is_finite(), "{value}");
        }
        assert_eq!(
            found[5],
            [if number.is_nan() {
                9.0
            } else if number.is_infinite() {
                2.0
            } else {
                0.0
            }]
        );
    }
    let rows = LazyTensor::from(&random(&device, [4, 9], 8));
    let hidden = rows.index(1)?.gt(4)?;
    let weights = hidden.select(f32::NEG_INFINITY, &rows)?.softmax(1)?.to_vec_blocking::<f32>()?;
    for row in weights.chunks(9) {
        assert!(
            (row.iter().sum::<f32>() - 1.0).abs() < 1e-5 && row[5..].iter().all(|&weight| weight == 0.0),
            "{row:?}"
        );
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn two_hundred_inputs() -> Result<(), Error> {
    let device = device();
    let inputs: Vec<(LazyTensor, Vec<f32>)> = (0..200).map(|seed| lazy(&device, [2, 3, 5], seed)).collect();
    let sum = |at: usize| inputs.iter().map(move |(_, values)| f64::from(values[at]));
    let mut total = inputs[0].0.clone();
    for (input, _) in &inputs[1..] {
        total += input;
    }
    assert_near(&total.to_vec_blocking::<f32>()?, &to_f32((0..30).map(|at| sum(at).sum())), 1e-4);
    let all: Vec<&LazyTensor> = inputs.iter().map(|(input, _)| input).collect();
    let largest = LazyTensor::stack(&all, 0)?.amax(0)?;
    let expected = to_f32((0..30).map(|at| sum(at).fold(f64::MIN, f64::max)));
    assert_eq!(largest.to_vec_blocking::<f32>()?, expected);
    let joined = LazyTensor::concat(&all, 2)?;
    assert_eq!(joined.shape()?, [2, 3, 1000]);
    let expected = to_f32((0..6).map(|row| (row * 5..row * 5 + 5).flat_map(sum).sum()));
    assert_near(&joined.sum(2)?.reshape([6])?.to_vec_blocking::<f32>()?, &expected, 1e-4);
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn three_hundred_numbers() -> Result<(), Error> {
    let device = device();
    patient(&device);
    let (x, values) = lazy(&device, [33], 9);
    let number = |at: i32| (f64::from(at) * 0.37).sin() as f32;
    for offset in [0, 7] {
        let mut y = x.clone();
        let mut expected: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
        for round in 0..150 {
            let (scale, shift) = (0.5 + 0.4 * number(round + offset), number(1000 + round + offset));
            y = &y * scale + shift;
            expected.iter_mut().for_each(|x| *x = *x * f64::from(scale) + f64::from(shift));
        }
        assert_near(&y.to_vec_blocking::<f32>()?, &to_f32(expected), 1e-5);
        let stats = stats(&device);
        assert_eq!((stats.evaluations, stats.compiled, stats.failed), (1 + u64::from(offset > 0), 1, 0), "{stats}");
    }
    Ok(())
}

#[test]
fn many_held_and_many_asked_for() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [21, 2], 10);
    // All 16 intermediates are held: each is computed at most twice.
    let mut chain = vec![x.clone()];
    for step in 0..16 {
        chain.push((&chain[step] * 0.9).sin()?);
    }
    chain[16].eval()?;
    assert!(chain[1..16].iter().all(|value| value.is_evaluated() == Ok(false)));
    let mut expected: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    for value in &chain[1..] {
        expected.iter_mut().for_each(|x| *x = (*x * f64::from(0.9f32)).sin());
        assert_near(&value.to_vec_blocking::<f32>()?, &to_f32(expected.clone()), 1e-5);
    }
    assert!(stats(&device).operations <= 2 * 2 * 16);
    let before = stats(&device).evaluations;
    let mut outputs: Vec<(LazyTensor, Vec<f64>)> = vec![];
    for number in 0..20 {
        let factor = number as f32 * 0.25 - 2.0;
        let scaled = values.iter().map(|&x| f64::from(x) * f64::from(factor));
        outputs.push((&x * factor, scaled.clone().collect()));
        outputs.push(((&x * factor).sum(())?, vec![scaled.sum()]));
    }
    let mut all: Vec<&LazyTensor> = outputs.iter().map(|(output, _)| output).collect();
    all.extend([all[3], all[0]]);
    eval_all(&all)?;
    assert_eq!(stats(&device).evaluations, before + 1);
    for (output, expected) in &outputs {
        assert_near(&output.to_vec_blocking::<f32>()?, &to_f32(expected.clone()), 1e-4);
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn dropped_in_odd_orders() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [19], 11);
    let expected: Vec<f32> = to_f32(values.iter().map(|&x| f64::from(x).exp().sin() + 2.0));
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        // Dropped in this order; once the first is gone, the last is evaluated.
        let a = x.exp()?;
        let b = a.sin()?;
        let c = b.add(2.0)?;
        let (d, e) = (c.neg()?, c.clone());
        let dx = fuse_gpu::auto::grad(&c.sum(())?, &[&a])?.remove(0);
        let mut all = [Some(a), Some(b), Some(d)];
        for (turn, at) in order.into_iter().enumerate() {
            if let (1, Some(value)) = (turn, &all[order[2]]) {
                value.eval()?;
            }
            all[at] = None;
        }
        let found = dx.to_vec_blocking::<f32>()?;
        let cosines = to_f32(values.iter().map(|&x| f64::from(x).exp().cos()));
        assert_near(&found, &cosines, 1e-4);
        drop(dx);
        assert_near(&e.to_vec_blocking::<f32>()?, &expected, 1e-4);
    }
    let before = device.memory_report().live_bytes;
    for seed in 0..10 {
        let (big, _) = lazy(&device, [1 << 14], seed);
        let a = big.exp()?;
        let b = a.add(1.0)?;
        drop(big);
        if seed % 2 == 0 {
            b.eval()?;
        }
        drop(a);
    }
    device.synchronize_blocking()?;
    assert_eq!(device.memory_report().live_bytes, before);
    Ok(())
}

#[test]
fn mistakes_in_the_middle() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [4, 6], 12);
    let mut y = x.clone();
    for round in 0..5 {
        let before = y.clone();
        assert!(y.matmul(&x).is_err() && y.reshape([5, 5]).is_err() && y.permute(&[0, 0]).is_err());
        assert!((&y + &x.transpose()?).relu().is_err() && y.sum([0, 0]).is_err() && y.slice(0, 3, 2).is_err());
        assert!(
            y.layer_norm(&x, &x, 1e-5).is_err() && y.cross_entropy(&x, 1).is_err() && y.dropout(2.0, 1u32).is_err()
        );
        assert!(LazyTensor::stack(&[&y, &x.sum(0)?], 0).is_err() && y.unsqueeze(9).is_err() && y.squeeze(1).is_err());
        assert!(fuse_gpu::auto::grad(&y, &[&x]).is_err() && eval_all(&[&y, &(&y + &x.transpose()?)]).is_err());
        y = before * 0.5 + round as f32;
    }
    let expected = values.iter().map(|&x| (0..5).fold(f64::from(x), |x, round| x * 0.5 + f64::from(round)));
    assert_near(&y.to_vec_blocking::<f32>()?, &to_f32(expected), 1e-5);
    let mut tensor = Tensor2::from_vec(&device, vec![1.0f32; 6], [2, 3])?;
    let (stale, fresh) = (LazyTensor::from(&tensor).exp()?, x.exp()?);
    let both = stale.sum(())?.add(&fresh.sum(())?)?;
    tensor.write(&[2.0; 6])?;
    for _ in 0..2 {
        assert!(matches!(both.eval(), Err(Error::Written { .. })));
        assert!(matches!(eval_all(&[&fresh, &stale]), Err(Error::Written { .. })));
    }
    assert_near(&fresh.to_vec_blocking::<f32>()?, &to_f32(values.iter().map(|&x| f64::from(x).exp())), 1e-5);
    // Tensors beyond the device's memory are an error, too.
    let huge = x.reshape([4, 6, 1])?.broadcast_to([4usize, 6, 1 << 40]);
    assert!(huge.and_then(|huge| huge.eval()).is_err());
    assert_near(&(&x + 1.0).sum(())?.to_vec_blocking::<f32>()?, &[values.iter().sum::<f32>() + 24.0], 1e-4);
    Ok(())
}

#[test]
fn shapes_of_every_kind_in_one_process() -> Result<(), Error> {
    let device = device();
    for (round, [b, n]) in [[1, 1], [4, 1], [1, 4], [5, 4], [0, 4], [4, 0], [64, 33], [2, 2]].into_iter().enumerate() {
        let tensor = Tensor3::<f32>::rand(&device, [b, n, 2], round as u64)?;
        let values = tensor.to_vec_blocking()?;
        let x = LazyTensor::from(&tensor);
        let flat = x.reshape([x.dim(0) * x.dim(1), 2usize.into()])?;
        let centered = &flat - flat.mean(Over::from(-1).keep())?;
        let back = centered.reshape([x.dim(0), x.dim(1), x.dim(2)])?.slice(1, 0, x.dim(1))?;
        let expected: Vec<f32> =
            values.chunks(2).flat_map(|row| [(row[0] - row[1]) / 2.0, (row[1] - row[0]) / 2.0]).collect();
        assert_near(&back.to_vec_blocking::<f32>()?, &expected, 1e-6);
    }
    let stats = stats(&device);
    assert!(stats.compiled <= 5 && stats.failed == 0, "{stats}");
    Ok(())
}
