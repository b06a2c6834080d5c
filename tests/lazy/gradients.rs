//! Gradients of recorded graphs.

use fuse_gpu::{
    auto::{Error, LazyTensor, Over, checkpoint, eval_all, explain, grad, grad_with, stats},
    fuse,
};

use super::{assert_near, device, lazy, random};

fuse! {
    fn step(x: f32[B, K], y: f32[B, N], w: f32[K, N]) -> (f32, f32[K, N]) {
        let error = tanh(matmul(x, w)) - y;
        let loss = mean(error * error);
        let dw = grad(loss, wrt = w);
        (loss, dw)
    }
}

fn loss(x: &LazyTensor, y: &LazyTensor, w: &LazyTensor) -> Result<LazyTensor, Error> {
    let error = x.matmul(w)?.tanh()? - y;
    (&error * &error).mean(())
}

#[test]
fn fused_with_the_forward_pass_or_later() -> Result<(), Error> {
    let device = device();
    let (x, y, w) = (random(&device, [13, 7], 1), random(&device, [13, 5], 2), random(&device, [7, 5], 3));
    let (expected_loss, expected) = step(&x, &y, &w)?;
    let (expected_loss, expected) = (expected_loss.to_vec_blocking()?, expected.to_vec_blocking()?);
    let (x, y, w) = (LazyTensor::from(&x), LazyTensor::from(&y), LazyTensor::from(&w));
    let l = loss(&x, &y, &w)?;
    let dw = grad(&l, &[&w])?.remove(0);
    let before = stats(&device);
    eval_all(&[&l, &dw])?;
    assert_eq!(stats(&device).evaluations - before.evaluations, 1);
    assert_eq!((l.to_vec_blocking::<f32>()?, dw.to_vec_blocking::<f32>()?), (expected_loss.clone(), expected.clone()));
    let l = loss(&x, &y, &w)?;
    let dw = grad(&l, &[&w])?.remove(0);
    assert_near(&l.to_vec_blocking::<f32>()?, &expected_loss, 1e-6);
    assert_near(&dw.to_vec_blocking::<f32>()?, &expected, 1e-6);
    let l = loss(&x, &y, &w)?;
    let dw = grad(&l, &[&w])?.remove(0);
    assert_near(&dw.to_vec_blocking::<f32>()?, &expected, 1e-6);
    assert_near(&l.to_vec_blocking::<f32>()?, &expected_loss, 1e-6);
    Ok(())
}

#[test]
fn of_gradients_and_of_cotangents() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [11], 4);
    let cube = (&x * &x * &x).sum(())?;
    let first = grad(&cube, &[&x])?.remove(0);
    let second = grad(&first.sum(())?, &[&x])?.remove(0);
    assert_near(&second.to_vec_blocking::<f32>()?, &values.iter().map(|x| 6.0 * x).collect::<Vec<_>>(), 1e-5);
    assert_near(&first.to_vec_blocking::<f32>()?, &values.iter().map(|x| 3.0 * x * x).collect::<Vec<_>>(), 1e-5);
    let (weight, weights) = lazy(&device, [11], 5);
    let dx = grad_with(&x.exp()?, &weight, &[&x])?.remove(0);
    let expected: Vec<f32> = values.iter().zip(&weights).map(|(x, w)| w * x.exp()).collect();
    assert_near(&dx.to_vec_blocking::<f32>()?, &expected, 1e-5);
    let h = x.sin()?;
    let y = (&h * &h).sum(())?;
    let [dh, dx] = <[LazyTensor; 2]>::try_from(grad(&y, &[&h, &x])?).expect("two");
    assert_near(&dh.to_vec_blocking::<f32>()?, &values.iter().map(|x| 2.0 * x.sin()).collect::<Vec<_>>(), 1e-5);
    let expected: Vec<f32> = values.iter().map(|x| 2.0 * x.sin() * x.cos()).collect();
    assert_near(&dx.to_vec_blocking::<f32>()?, &expected, 1e-5);
    Ok(())
}

#[test]
fn after_evaluating() -> Result<(), Error> {
    let device = device();
    let (x, y, mut w) = (lazy(&device, [13, 7], 1).0, lazy(&device, [13, 5], 2).0, lazy(&device, [7, 5], 3).0);
    // As in PyTorch.
    for _ in 0..3 {
        let expected = {
            let l = loss(&x, &y, &w)?;
            let dw = grad(&l, &[&w])?.remove(0);
            eval_all(&[&l, &dw])?;
            (l.to_vec_blocking::<f32>()?, dw.to_vec_blocking::<f32>()?)
        };
        let l = loss(&x, &y, &w)?;
        assert_near(&l.to_vec_blocking::<f32>()?, &expected.0, 1e-6);
        let dw = grad(&l, &[&w])?.remove(0);
        assert_near(&dw.to_vec_blocking::<f32>()?, &expected.1, 1e-6);
        w = &w - 0.1 * dw;
        w.eval()?;
    }
    let (x, values) = lazy(&device, [6], 6);
    let trunk = x.exp()?;
    trunk.eval()?;
    let losses = [(&trunk * &trunk).sum(())?, (&trunk * &x).sum(())?];
    let of = |x: f32| [2.0 * x.exp() * x.exp(), x.exp() * (1.0 + x)];
    for (number, loss) in losses.iter().enumerate() {
        loss.eval()?;
        let dx = grad(loss, &[&x])?.remove(0);
        let expected: Vec<f32> = values.iter().map(|&x| of(x)[number]).collect();
        assert_near(&dx.to_vec_blocking::<f32>()?, &expected, 1e-5);
    }
    let [dtrunk, dx] = <[LazyTensor; 2]>::try_from(grad(&losses[1], &[&trunk, &x])?).expect("two");
    assert_near(&dtrunk.to_vec_blocking::<f32>()?, &values, 1e-6);
    assert_near(&dx.to_vec_blocking::<f32>()?, &values.iter().map(|&x| of(x)[1]).collect::<Vec<_>>(), 1e-5);
    Ok(())
}

#[test]
fn a_path_that_is_forgotten_is_an_error_and_no_wrong_number() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [6], 6);
    let h = x.exp()?;
    let dx = grad(&(&h * &h).sum(())?, &[&x])?.remove(0);
    // An update drops its graph; values held then remember it.
    let next = &h - 0.1 * &dx;
    next.eval()?;
    assert!(!h.is_evaluated()?);
    for wrt in [&x, &h] {
        // Another path around the evaluated value must not hide the error.
        let error = grad(&(&next * wrt).sum(())?, &[wrt]).expect_err("forgotten");
        assert!(matches!(error, Error::Evaluated { .. }), "{error}");
    }
    assert!(grad(&(&next * &h).sum(())?, &[&next]).is_ok());
    for error in [
        grad(&x, &[&x]).expect_err("rank"),
        grad(&x.sum(())?, &[]).expect_err("nothing"),
        grad(&x.sum(())?, &[&x, &x]).expect_err("twice"),
        grad(&x.sum(())?, &[&lazy(&device, [2], 1).0]).expect_err("unrelated"),
        grad(&x.stop_gradient()?.sum(())?, &[&x]).expect_err("stopped"),
        grad(&x.gt(0.0)?.any(())?, &[&x]).expect_err("bool"),
        grad(&x.sum(())?, &[&x.argmax(0)?]).expect_err("integer"),
    ] {
        assert!(error.to_string().contains("help"), "{error}");
    }
    Ok(())
}

#[test]
fn a_step_of_training_keeps_no_history() -> Result<(), Error> {
    let device = device();
    let (x, y) = (lazy(&device, [32, 8], 7).0, lazy(&device, [32, 3], 8).0);
    let mut w = lazy(&device, [8, 3], 9).0;
    let mut losses = vec![];
    let mut memory = 0;
    for step in 0..60 {
        let l = loss(&x, &y, &w)?;
        let dw = grad(&l, &[&w])?.remove(0);
        let next = &w - 0.5 * dw;
        eval_all(&[&l, &next])?;
        w = next;
        losses.push(l.to_vec_blocking::<f32>()?[0]);
        match step {
            20 => memory = device.memory_report().live_bytes,
            59 => assert_eq!(device.memory_report().live_bytes, memory),
            _ => {}
        }
    }
    assert!(losses[59] < 0.8 * losses[0], "{losses:?}");
    assert!(stats(&device).misses < 20);
    Ok(())
}

#[test]
fn long_graphs_have_gradients_although_they_are_evaluated_in_parts() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [5], 10);
    let before = stats(&device).evaluations;
    let mut y = x.clone();
    for _ in 0..700 {
        y = y.mul(1.001)?;
    }
    assert!(stats(&device).evaluations - before >= 2, "256 wait at most");
    let dx = grad(&(&y * &y).sum(())?, &[&x])?.remove(0);
    let factor = 1.001f32.powi(700);
    let expected: Vec<f32> = values.iter().map(|x| 2.0 * x * factor * factor).collect();
    assert_near(&dx.to_vec_blocking::<f32>()?, &expected, 1e-3);
    Ok(())
}

#[test]
fn checkpoints_are_computed_again() -> Result<(), Error> {
    let device = device();
    let (x, w, v) = (lazy(&device, [9, 6], 11).0, lazy(&device, [6, 7], 12).0, lazy(&device, [7, 5], 13).0);
    let block = |x: &LazyTensor| checkpoint(|| x.matmul(&w)?.tanh()?.matmul(&v)?.sin());
    let plain = |x: &LazyTensor| x.matmul(&w)?.tanh()?.matmul(&v)?.sin();
    let gradients = |y: LazyTensor| -> Result<(Vec<f32>, Vec<f32>, String, u32), Error> {
        let loss = (&y * &y).mean(())?;
        let dw = grad(&loss, &[&w])?.remove(0);
        drop(y);
        let explained = explain(&[&loss, &dw])?;
        eval_all(&[&loss, &dw])?;
        let operations = explained.plan.unfused_dispatches;
        Ok((loss.to_vec_blocking()?, dw.to_vec_blocking()?, explained.source, operations))
    };
    let (loss, dw, text, again) = gradients(block(&x)?)?;
    let (expected_loss, expected, without, once) = gradients(plain(&x)?)?;
    assert_near(&loss, &expected_loss, 1e-6);
    assert_near(&dw, &expected, 1e-5);
    assert!(text.contains("checkpoint({\n    let v0 = ") && !without.contains("checkpoint"), "{text}");
    // The backward pass repeats the product and `tanh`.
    assert!(again >= once + 2, "{again} and {once}");
    let held = std::cell::OnceCell::new();
    let outer = checkpoint(|| {
        let inner = block(&x)?;
        let exp = inner.exp()?;
        drop(held.set(exp.clone()));
        exp.cos()
    })?;
    let (_, dw, text, _) = gradients(outer)?;
    let (_, expected, ..) = gradients(plain(&x)?.exp()?.cos()?)?;
    assert_near(&dw, &expected, 1e-5);
    assert!(text.contains("checkpoint"), "{text}");
    Ok(())
}

#[test]
fn values_that_are_the_same_to_the_language() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [4, 3], 14);
    for same in [
        LazyTensor::concat(&[&x], 0)?,
        x.pad(1, 0, 0, 1.0)?,
        x.repeat(0, 1)?,
        x.tile(1, 1)?,
        x.reshape([4, 3])?,
        x.reshape([x.dim(0), x.dim(1)])?,
    ] {
        let dx = grad(&(&x * &x).sum(())?, &[&same])?.remove(0);
        assert_near(&dx.to_vec_blocking::<f32>()?, &values.iter().map(|x| 2.0 * x).collect::<Vec<_>>(), 1e-6);
    }
    let (x, values) = lazy(&device, [4, 1], 14);
    let over = || Over::from(1).keep();
    for same in [x.sum(over())?, x.prod(over())?, x.amax(over())?, x.amin(over())?, x.mean(over())?] {
        let dx = grad(&(&x * &x).sum(())?, &[&same])?.remove(0);
        assert_near(&dx.to_vec_blocking::<f32>()?, &values.iter().map(|x| 2.0 * x).collect::<Vec<_>>(), 1e-6);
    }
    let total = x.sum(())?;
    let dx = grad(&(&total * &total), &[&total.sum(())?])?.remove(0);
    assert_near(&dx.to_vec_blocking::<f32>()?, &[2.0 * values.iter().sum::<f32>()], 1e-5);
    Ok(())
}

#[test]
fn a_dropout_that_keeps_nothing_has_a_gradient_of_0() -> Result<(), Error> {
    let device = device();
    let (x, _) = lazy(&device, [12], 15);
    let dx = grad(&x.dropout(1.0, 7)?.sum(())?, &[&x])?.remove(0);
    assert_eq!(dx.to_vec_blocking::<f32>()?, [0.0; 12]);
    Ok(())
}
