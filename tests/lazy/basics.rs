//! Recording and evaluation.

use std::sync::Barrier;

use fuse_gpu::{
    Device, Tensor1, Tensor2,
    auto::{DType, Dim, Error, FusionConfig, LazyTensor, Over, configure, eval_all, flush, grad, stats, with_config},
    fuse,
};

use super::{assert_near, device, lazy, random};

fuse! {
    fn layer(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }
}

#[test]
fn a_chain_is_one_kernel_and_equals_fuse() -> Result<(), Error> {
    let device = device();
    let (x, w, b, r) = (
        random(&device, [33, 47], 1),
        random(&device, [47, 65], 2),
        random(&device, [65], 3),
        random(&device, [33, 65], 4),
    );
    let lazies = [LazyTensor::from(&x), LazyTensor::from(&w), LazyTensor::from(&b), LazyTensor::from(&r)];
    let [lx, lw, lb, lr] = &lazies;
    let y = lx.matmul(lw)?.add(lb)?.add(lr)?.relu()?;
    assert_eq!((y.shape()?, y.dtype()?, y.is_evaluated()?), (vec![33, 65], DType::F32, false));
    let before = stats(&device);
    assert_eq!(y.to_vec_blocking::<f32>()?, layer(&x, &w, &b, &r)?.to_vec_blocking()?);
    let after = stats(&device);
    assert_eq!(after.evaluations - before.evaluations, 1);
    assert_eq!(after.launches - before.launches, 1);
    assert_eq!(after.operations - before.operations, 4);
    assert!(y.is_evaluated()?);
    Ok(())
}

#[test]
fn other_sizes_and_numbers_compile_nothing() -> Result<(), Error> {
    let device = device();
    let run = |rows: usize, columns: usize, scale: f32| -> Result<(), Error> {
        let (x, values) = lazy(&device, [rows, columns], 7);
        let (b, more) = lazy(&device, [columns], 8);
        let y = (&x * scale + &b).sigmoid()?.reshape([x.dim(0) * x.dim(1)])?;
        let expected: Vec<f32> =
            (0..rows * columns).map(|i| 1.0 / (1.0 + (-(values[i] * scale + more[i % columns])).exp())).collect();
        assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
        Ok(())
    };
    run(5, 7, 2.0)?;
    let before = stats(&device);
    for (rows, columns, scale) in [(6, 7, 2.0), (64, 3, -1.0), (2, 1001, 0.5), (0, 4, 1.0)] {
        run(rows, columns, scale)?;
    }
    let after = stats(&device);
    assert_eq!((after.misses, after.compiled), (before.misses, before.compiled), "{after}");
    // An extent of 1 is another graph, because it broadcasts.
    run(1, 7, 2.0)?;
    assert_eq!(stats(&device).misses, before.misses + 1);
    Ok(())
}

#[test]
fn several_values_are_one_function() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [31, 17], 10);
    let (mean, var) = (x.mean(1)?, x.var(1, 0)?);
    let normal = (&x - x.mean(Over::from(1).keep())?) / x.var(Over::from(1).keep(), 0)?.sqrt()?;
    let before = stats(&device);
    eval_all(&[&mean, &var, &normal])?;
    assert_eq!(stats(&device).evaluations - before.evaluations, 1);
    assert_eq!(normal.shape()?, [31, 17]);
    Ok(())
}

#[test]
fn mistakes_are_told_when_recorded() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [3, 4], 1);
    let (y, _) = lazy(&device, [3, 5], 2);
    let text = x.matmul(&y).expect_err("inner dimensions").to_string();
    assert!(
        text.contains("`matmul`") && text.contains("[3, 4]") && text.contains("[3, 5]") && text.contains("help"),
        "{text}"
    );
    // Operators carry the error to the next method.
    let wrong = &x + &y;
    let again = &wrong * 2.0;
    let text = again.relu().expect_err("shapes").to_string();
    assert!(text.contains("`add`") && text.contains("4 meets 5"), "{text}");
    assert!(again.eval().is_err() && wrong.shape().is_err());
    for error in [
        x.sum(2).expect_err("axis"),
        x.reshape([5, 2]).expect_err("elements"),
        x.slice(1, 2, 9).expect_err("end"),
        x.and(&x).expect_err("dtype"),
        x.cast(DType::I32)?.mul(0.5).expect_err("a fraction"),
        x.tensor::<f32, 3>().expect_err("rank"),
        x.to_vec_blocking::<i32>().expect_err("dtype"),
        x.unsqueeze(5).expect_err("axis"),
        x.slice(1, 2, 2)?.argmax(-1).expect_err("no element"),
        x.cast(DType::F16)?.add(70000.0).expect_err("infinite in f16"),
        x.cast(DType::F16)?.mul(1e-8).expect_err("0 in f16"),
        x.cast(DType::F16)?.mul(65520).expect_err("infinite in f16"),
        LazyTensor::concat(&[], 0).expect_err("nothing"),
    ] {
        assert!(error.to_string().contains("help"), "{error}");
    }
    let other = Device::blocking()?;
    let (z, _) = lazy(&other, [3, 4], 3);
    assert!(x.add(&z).expect_err("devices").to_string().contains("different devices"));
    Ok(())
}

#[test]
fn lazy_tensors_follow_tensors_and_give_values_of_their_own() -> Result<(), Error> {
    let device = device();
    let mut tensor = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2])?;
    let x = LazyTensor::from(&tensor);
    let clone = tensor.clone();
    tensor.write(&[3.0, 4.0])?;
    // `x` follows the tensor where the write moved it.
    assert_eq!(LazyTensor::from(&tensor).to_vec_blocking::<f32>()?, [3.0, 4.0]);
    assert_eq!((x.tensor::<f32, 1>()?.to_vec_blocking()?, clone.to_vec_blocking()?), (vec![3.0, 4.0], vec![1.0, 2.0]));
    let y = LazyTensor::from(&tensor).add(LazyTensor::from(&clone))?;
    let mut value = y.tensor::<f32, 1>()?;
    value.write(&[0.0, 0.0])?;
    assert_eq!((y.mul(&y)?.to_vec_blocking::<f32>()?, value.to_vec_blocking()?), (vec![16.0, 36.0], vec![0.0, 0.0]));
    let mut given = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2])?;
    let x = LazyTensor::from(given.clone());
    given.write(&[5.0, 5.0])?;
    assert_eq!(x.add(&x)?.to_vec_blocking::<f32>()?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn a_tensor_that_was_written_to_is_an_error() -> Result<(), Error> {
    let device = device();
    let mut tensor = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2])?;
    let x = LazyTensor::from(&tensor);
    let y = x.exp()?;
    tensor.write(&[3.0, 4.0])?;
    let error = y.eval().expect_err("written");
    assert!(matches!(&error, Error::Written { operation: "exp", .. }), "{error}");
    assert!(error.to_string().contains("f32[2]"), "{error}");
    assert!(y.eval().is_err(), "it stays an error");
    let y = LazyTensor::from(&tensor).exp()?;
    assert_near(&y.to_vec_blocking::<f32>()?, &[3f32.exp(), 4f32.exp()], 1e-6);
    Ok(())
}

#[test]
fn operations_recorded_after_a_write_see_the_new_values() -> Result<(), Error> {
    let device = device();
    let mut tensor = Tensor1::from_vec(&device, vec![1.0f32, 2.0], [2])?;
    let x = LazyTensor::from(&tensor);
    let sizes_only = LazyTensor::from(Tensor1::from_vec(&device, vec![5.0f32, 6.0], [2])?);
    let column = sizes_only.reshape([x.dim(0), 1.into()])?;
    let (before, product) = (&x + 1.0, &x * &x);
    tensor.write(&[3.0, 4.0])?;
    assert_near(&(&x * 3.0).to_vec_blocking::<f32>()?, &[9.0, 12.0], 0.0);
    assert!(matches!(before.eval(), Err(Error::Written { operation: "add", .. })));
    // The error belongs to the operation, not the tensor; writes keep extents.
    assert_near(&column.to_vec_blocking::<f32>()?, &[5.0, 6.0], 0.0);
    let mixed = &before + &(&x * 2.0);
    assert!(matches!(mixed.eval(), Err(Error::Written { operation: "add", .. })));
    // Gradients read the values of the time of recording.
    let [dx] = grad(&(&x * &x).sum(())?, &[&x])?.try_into().expect("one");
    assert_near(&dx.to_vec_blocking::<f32>()?, &[6.0, 8.0], 0.0);
    let [dx] = grad(&product.sum(())?, &[&x])?.try_into().expect("one");
    assert!(matches!(dx.eval(), Err(Error::Written { operation: "mul", .. })));
    let clone = tensor.clone();
    let before = &x * 5.0;
    tensor.write(&[5.0, 6.0])?;
    assert_near(&(&x * 2.0).to_vec_blocking::<f32>()?, &[10.0, 12.0], 0.0);
    assert!(matches!(before.eval(), Err(Error::Written { operation: "mul", .. })));
    assert_eq!(clone.to_vec_blocking()?, [3.0, 4.0]);
    // Writing to a returned result changes nothing here.
    let y = &x + 0.5;
    let pending = &y * 10.0;
    let mut result = y.tensor::<f32, 1>()?;
    let later = &y * 100.0;
    result.write(&[7.0, 8.0])?;
    assert_near(&pending.to_vec_blocking::<f32>()?, &[55.0, 65.0], 0.0);
    assert_near(&later.to_vec_blocking::<f32>()?, &[550.0, 650.0], 0.0);
    assert_near(&(&y * 2.0).to_vec_blocking::<f32>()?, &[11.0, 13.0], 0.0);
    Ok(())
}

#[test]
fn long_chains_flush_and_drop() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [16], 11);
    let before = stats(&device);
    let mut y = x.clone();
    for _ in 0..1000 {
        y = y.add(1.0)?;
    }
    assert!(stats(&device).evaluations - before.evaluations >= 3);
    let expected: Vec<f32> = values.iter().map(|x| x + 1000.0).collect();
    assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
    let mut h = x.clone();
    for _ in 0..40 {
        h = &h + &h.tanh()?;
    }
    assert!(!h.is_evaluated()?);
    // Dropping does not recurse.
    configure(&device, FusionConfig { max_pending: 1_000_000, ..FusionConfig::default() });
    let mut y = x.clone();
    for _ in 0..200_000 {
        y = y.add(1.0)?;
    }
    drop(y);
    configure(&device, FusionConfig::default());
    Ok(())
}

#[test]
fn memory_that_only_pending_work_holds_is_bounded() -> Result<(), Error> {
    let device = device();
    configure(&device, FusionConfig { max_pending_bytes: 1 << 20, ..FusionConfig::default() });
    let before = stats(&device);
    let mut sum = LazyTensor::from(&Tensor1::<f32>::zeros(&device, [1 << 16])?);
    for seed in 0..40 {
        sum = &sum + LazyTensor::from(Tensor1::full(&device, seed as f32, [1 << 16])?);
    }
    assert!(stats(&device).evaluations - before.evaluations >= 2, "a quarter of a megabyte each");
    assert_eq!(sum.slice(0, 0, 1)?.to_vec_blocking::<f32>()?, [780.0]);
    // Tensors held elsewhere do not count.
    let weight = Tensor1::<f32>::zeros(&device, [1 << 20])?;
    let w = LazyTensor::from(&weight);
    let before = stats(&device);
    let mut y = w.add(1.0)?;
    for _ in 0..50 {
        y = &y + &w;
    }
    assert_eq!(stats(&device).evaluations, before.evaluations);
    configure(&device, FusionConfig::default());
    Ok(())
}

#[test]
fn flush_evaluates_what_is_held() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [8], 12);
    let y = x.exp()?;
    let z = y.log()?.neg()?;
    drop(x.sin()?);
    flush(&device)?;
    assert!(y.is_evaluated()? && z.is_evaluated()?);
    flush(&device)?;
    Ok(())
}

#[test]
fn fusion_can_be_turned_off() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [9, 9], 13);
    let run = || -> Result<(Vec<f32>, u64), Error> {
        let before = stats(&device);
        let y = (&x * 2.0 + 1.0).tanh()?.sum(1)?;
        Ok((y.to_vec_blocking()?, stats(&device).launches - before.launches))
    };
    let (fused, one) = run()?;
    let off = FusionConfig { enabled: false, ..FusionConfig::default() };
    let (unfused, many) = with_config(&device, off, run)?;
    assert_eq!((one, many), (1, 4));
    assert_near(&fused, &unfused, 1e-5);
    let large = FusionConfig { min_tensor_size: 1000, ..FusionConfig::default() };
    assert_eq!(with_config(&device, large, run)?.1, 4);
    assert_eq!(run()?.1, 1);
    Ok(())
}

#[test]
fn captured_evaluations_join_the_sequence() -> Result<(), Error> {
    let device = device();
    let mut tensor = Tensor2::from_vec(&device, vec![1.0f32; 6], [2, 3])?;
    let compiled = LazyTensor::from(&tensor).exp()?.sum(1)?;
    compiled.eval()?;
    let work = || {
        let y = LazyTensor::from(&tensor).exp().and_then(|y| y.sum(1)).expect("recorded");
        Ok(y.tensor::<f32, 1>().expect("captured"))
    };
    let (sequence, y) = device.capture(work)?;
    for value in [0.0f32, 1.0] {
        tensor.write(&[value; 6])?;
        sequence.replay()?;
        assert_near(&y.to_vec_blocking()?, &[3.0 * value.exp(); 2], 1e-6);
    }
    Ok(())
}

#[test]
fn threads_share_values() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [64], 14);
    let shared = x.exp()?;
    let before = stats(&device);
    let all_recorded = Barrier::new(8);
    std::thread::scope(|scope| {
        for factor in 0..8 {
            let (x, shared, values, all_recorded) = (&x, &shared, &values, &all_recorded);
            scope.spawn(move || {
                let scaled = |y: LazyTensor, round: i32| {
                    let number = (factor + round) as f32;
                    let expected: Vec<f32> = values.iter().map(|x| x.exp() * number).collect();
                    let y = y.mul(number).expect("recorded");
                    move || assert_near(&y.to_vec_blocking::<f32>().expect("values"), &expected, 1e-5)
                };
                let own = scaled(x.exp().expect("recorded"), 0);
                all_recorded.wait();
                own();
                (0..20).for_each(|round| scaled(shared.clone(), round)());
            });
        }
    });
    // At most three functions: `exp` with the product; the same with `exp` stored, for the second thread; the product
    // of stored values.
    let told = stats(&device);
    assert!((1..=3).contains(&(told.compiled - before.compiled)), "a graph is compiled once: {told}");
    let before = stats(&device);
    let wanted = x.sin()?.cos()?;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| wanted.eval().expect("evaluated"));
        }
    });
    assert_eq!(stats(&device).evaluations - before.evaluations, 1);
    Ok(())
}

#[test]
fn the_source_can_be_pasted() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [2, 12, 5], 15);
    let y = x.reshape([x.dim(0), Dim::from(3), Dim::from(4), x.dim(2)])?.permute(&[0, 2, 1, 3])?.softmax(-1)?;
    let text = y.source()?;
    assert!(text.starts_with("pub fn lazy_") && text.contains("(x0: f32[A, 12, B]) -> f32[A, 4, 3, B]"), "{text}");
    Ok(())
}
