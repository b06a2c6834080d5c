//! Deep graphs, many threads, and the code limit.

use std::{process::Command, sync::mpsc};

use fuse_gpu::auto::{Error, FusionConfig, LazyTensor, configure, eval_all, grad, set_code_limit, stats};

use super::{assert_near, device, lazy};

const ROWS: usize = 5;
const WIDTH: usize = 6;

/// Layers `h + 0.1·tanh(h·w)`, and gradients with respect to all weights, against the host.
fn residual(depth: usize) -> Result<(), Error> {
    let device = device();
    configure(&device, FusionConfig { max_pending: 100_000, ..FusionConfig::default() });
    let (x, values) = lazy(&device, [ROWS, WIDTH], 1);
    let layer = |layer: usize| lazy(&device, [WIDTH, WIDTH], 2 + layer as u64);
    let weights: Vec<(LazyTensor, Vec<f32>)> = (0..depth).map(layer).collect();
    let (expected_loss, expected) = residual_on_host(&values, &weights);
    for round in 1..=2 {
        let mut h = x.clone();
        for (w, _) in &weights {
            h = &h + 0.1 * h.matmul(w)?.tanh()?;
        }
        let loss = (&h * &h).mean(())?;
        assert!(!loss.is_evaluated()?);
        let wrt: Vec<&LazyTensor> = weights.iter().map(|(w, _)| w).collect();
        let gradients = grad(&loss, &wrt)?;
        drop(h);
        eval_all(&gradients.iter().chain([&loss]).collect::<Vec<_>>())?;
        let stats = stats(&device);
        assert_eq!((stats.compiled, stats.evaluations, stats.failed), (1, round, 0), "{stats}");
        assert_near(&loss.to_vec_blocking::<f32>()?, &[expected_loss as f32], 1e-4);
        for (found, expected) in gradients.iter().zip(&expected) {
            assert_near(&found.to_vec_blocking::<f32>()?, expected, 1e-4);
        }
    }
    Ok(())
}

fn residual_on_host(x: &[f32], weights: &[(LazyTensor, Vec<f32>)]) -> (f64, Vec<Vec<f32>>) {
    let cells = || (0..ROWS).flat_map(|row| (0..WIDTH).map(move |column| (row, column)));
    let mut states: Vec<Vec<f64>> = vec![x.iter().map(|&x| x.into()).collect()];
    let mut tanhs = vec![];
    for (_, w) in weights {
        let h = &states[states.len() - 1];
        let sum = |row: usize, column: usize| -> f64 {
            (0..WIDTH).map(|k| h[row * WIDTH + k] * f64::from(w[k * WIDTH + column])).sum()
        };
        let tanh: Vec<f64> = cells().map(|(row, column)| sum(row, column).tanh()).collect();
        let next = h.iter().zip(&tanh).map(|(h, t)| h + 0.1 * t).collect();
        states.push(next);
        tanhs.push(tanh);
    }
    let last = states.pop().expect("a state");
    let count = last.len() as f64;
    let mut dh: Vec<f64> = last.iter().map(|h| 2.0 * h / count).collect();
    let mut gradients = vec![];
    for ((h, tanh), (_, w)) in states.iter().zip(&tanhs).zip(weights).rev() {
        let inner: Vec<f64> = dh.iter().zip(tanh).map(|(d, t)| 0.1 * d * (1.0 - t * t)).collect();
        let of_weight = |k: usize, column: usize| -> f64 {
            (0..ROWS).map(|row| h[row * WIDTH + k] * inner[row * WIDTH + column]).sum()
        };
        let square = (0..WIDTH).flat_map(|k| (0..WIDTH).map(move |column| (k, column)));
        gradients.push(square.map(|(k, column)| of_weight(k, column) as f32).collect());
        for (row, k) in cells() {
            dh[row * WIDTH + k] +=
                (0..WIDTH).map(|column| inner[row * WIDTH + column] * f64::from(w[k * WIDTH + column])).sum::<f64>();
        }
    }
    gradients.reverse();
    (last.iter().map(|h| h * h).sum::<f64>() / count, gradients)
}

#[test]
fn a_deep_residual_network_with_gradients() -> Result<(), Error> {
    residual(300)
}

#[test]
fn gradients_of_too_much_are_one_evaluation() -> Result<(), Error> {
    let device = device();
    configure(&device, FusionConfig { max_pending: 20, ..FusionConfig::default() });
    let (x, values) = lazy(&device, [9], 1);
    let weights: Vec<(LazyTensor, Vec<f32>)> = (0..18).map(|seed| lazy(&device, [9], 2 + seed)).collect();
    let mut h = x.clone();
    for (w, _) in &weights {
        h = h.mul(w)?;
    }
    let loss = h.sum(())?;
    let wrt: Vec<&LazyTensor> = weights.iter().map(|(w, _)| w).collect();
    let gradients = grad(&loss, &wrt)?;
    assert!(gradients.iter().all(|gradient| gradient.is_evaluated() == Ok(true)));
    assert_eq!(stats(&device).evaluations, 1);
    for (number, gradient) in gradients.iter().enumerate() {
        let others =
            |at: usize| weights.iter().enumerate().filter(|(other, _)| *other != number).map(move |(_, (_, w))| w[at]);
        let expected = |at: usize| others(at).fold(f64::from(values[at]), |product, w| product * f64::from(w));
        for (at, found) in gradient.to_vec_blocking::<f32>()?.into_iter().enumerate() {
            assert!((f64::from(found) - expected(at)).abs() <= 1e-5 * expected(at).abs(), "gradient {number}, {at}");
        }
    }
    Ok(())
}

#[test]
fn gradients_that_are_one_value() -> Result<(), Error> {
    let device = device();
    // More operands than a kernel binds.
    for count in [2, 7, 8, 20] {
        let (x, values) = lazy(&device, [9], 1);
        let weights: Vec<(LazyTensor, Vec<f32>)> = (0..count).map(|seed| lazy(&device, [9], 2 + seed)).collect();
        let mut h = x.clone();
        for (w, _) in &weights {
            h += w;
        }
        let loss = (&h * &h).sum(())?;
        let gradients = grad(&loss, &weights.iter().map(|(w, _)| w).collect::<Vec<_>>())?;
        eval_all(&gradients.iter().chain([&loss]).collect::<Vec<_>>())?;
        let twice = |at: usize| 2.0 * (values[at] + weights.iter().map(|(_, w)| w[at]).sum::<f32>());
        for gradient in &gradients {
            assert_near(&gradient.to_vec_blocking::<f32>()?, &(0..9).map(twice).collect::<Vec<_>>(), 1e-5);
        }
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

#[test]
fn sizes_of_many_parts() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [16, 2], 1);
    let (mut longer, mut doubled) = (x.dim(0), x.dim(1));
    for _ in 0..100_000 {
        longer = longer + 1usize;
    }
    for _ in 0..40 {
        doubled = &doubled + &doubled;
    }
    assert_eq!((longer.get(), doubled.get()), (100_016, 2 << 40));
    let y = x.reshape([longer - 100_000usize, doubled - ((2usize << 40) - 2)])?.neg()?;
    assert_eq!(y.to_vec_blocking::<f32>()?, values.iter().map(|x| -x).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn extents_are_no_way_for_gradients() -> Result<(), Error> {
    let device = device();
    let ((x, _), (w, values)) = (lazy(&device, [6, 4], 1), lazy(&device, [4, 4], 2));
    // Only extents are used: one is materialized, one is never computed.
    let (seen, never) = (x.matmul(&w)?, x.matmul(&w)?.sum(1)?);
    seen.eval()?;
    let extents = [seen.dim(1) * 2usize, never.dim(0) - 4usize];
    drop(never);
    let loss = (&w * &w).reshape(extents)?.sum(())?;
    let [dw] = grad(&loss, &[&w])?.try_into().expect("one");
    eval_all(&[&dw, &loss])?;
    assert_near(&dw.to_vec_blocking::<f32>()?, &values.iter().map(|w| 2.0 * w).collect::<Vec<_>>(), 1e-5);
    let error = grad(&w.exp()?.sum(())?, &[&x]).expect_err("unrelated").to_string();
    assert!(error.contains("does not depend"), "{error}");
    Ok(())
}

#[test]
fn threads_evaluate_while_others_record() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [40], 3);
    let shared = x.sin()?;
    let expected = |factor: f32| -> Vec<f32> {
        values.iter().map(|&x| (f64::from(x).sin() * f64::from(factor) + 1.0).exp() as f32).collect()
    };
    let (send, receive) = mpsc::channel::<(f32, LazyTensor)>();
    let receive = std::sync::Mutex::new(receive);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (send, shared) = (send.clone(), &shared);
            scope.spawn(move || {
                for round in 0..25 {
                    let factor = thread as f32 * 0.1 + round as f32 * 0.01;
                    let inner = shared * factor + 1.0;
                    let y = inner.exp().expect("recorded");
                    send.send((factor, y.clone())).expect("sent");
                    match round % 4 {
                        0 => y.eval().expect("evaluated"),
                        1 => inner.eval().expect("evaluated"),
                        2 => drop((y, inner)),
                        _ => eval_all(&[&inner, &y, shared]).expect("evaluated"),
                    }
                }
            });
        }
        drop(send);
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let next = receive.lock().expect("a receiver").recv();
                    let Ok((factor, y)) = next else { return };
                    assert_near(&y.to_vec_blocking::<f32>().expect("values"), &expected(factor), 1e-5);
                }
            });
        }
    });
    // Bound over all thread orders: combinations of requested, materialized and additionally stored values.
    let stats = stats(&device);
    assert!(stats.compiled <= 24 && stats.failed == 0, "{stats}");
    Ok(())
}

#[test]
fn gradients_are_shared_by_threads() -> Result<(), Error> {
    let device = device();
    for round in 0..8 {
        let (x, values) = lazy(&device, [12], round);
        let h = x.tanh()?;
        let loss = (&h * &h).sum(())?;
        let dx = grad(&loss, &[&x])?.remove(0);
        std::thread::scope(|scope| {
            for (turn, value) in [&dx, &loss, &h, &dx].into_iter().enumerate() {
                let of = move |x: f64| match turn {
                    0 | 3 => 2.0 * x.tanh() * (1.0 - x.tanh().powi(2)),
                    _ => x.tanh(),
                };
                let values = &values;
                scope.spawn(move || {
                    let found = value.to_vec_blocking::<f32>().expect("values");
                    let expected: Vec<f32> = match turn {
                        1 => vec![values.iter().map(|&x| f64::from(x).tanh().powi(2)).sum::<f64>() as f32],
                        _ => values.iter().map(|&x| of(x.into()) as f32).collect(),
                    };
                    assert_near(&found, &expected, 1e-5);
                });
            }
        });
    }
    assert_eq!(stats(&device).failed, 0);
    Ok(())
}

/// The limit is per process, so the test changes it in a child process.
#[test]
fn the_limit_of_code() -> Result<(), Error> {
    const WITHIN: &str = "FUSE_TEST_LIMIT_OF_CODE";
    if std::env::var_os(WITHIN).is_some() {
        return within_a_limit_of_code();
    }
    let program = std::env::current_exe().expect("this program");
    let arguments = ["--exact", "hostile_many::the_limit_of_code"];
    let output = Command::new(program).args(arguments).env(WITHIN, "1").output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    Ok(())
}

fn within_a_limit_of_code() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [10], 4);
    let first = x.exp()?;
    first.eval()?;
    let used = stats(&device).code_bytes;
    assert!(used > 0 && stats(&device).dropped == 0);
    x.sin()?.cos()?.eval()?;
    let other = stats(&device).code_bytes - used;
    // Room for one of them: the others are evicted and recompiled.
    let limit = used.max(other) + used.min(other) / 2;
    set_code_limit(limit);
    x.neg()?.eval()?;
    assert_eq!(stats(&device).dropped, 2);
    let exp: Vec<f32> = values.iter().map(|&x| f64::from(x).exp() as f32).collect();
    let waves: Vec<f32> = values.iter().map(|&x| f64::from(x).sin().cos() as f32).collect();
    for round in 0..3 {
        assert_near(&x.sin()?.cos()?.to_vec_blocking::<f32>()?, &waves, 1e-5);
        assert_near(&x.exp()?.to_vec_blocking::<f32>()?, &exp, 1e-5);
        let stats = stats(&device);
        assert_eq!((stats.dropped, stats.evaluations), (2 * round + 4, 2 * round + 5));
        assert!(stats.code_bytes <= limit, "{stats}");
        assert_eq!(device.pipelines(), 1);
    }
    // With room for both, the most recently used stays.
    set_code_limit(4 * limit);
    for _ in 0..2 {
        assert_near(&x.sin()?.cos()?.to_vec_blocking::<f32>()?, &waves, 1e-5);
        assert_near(&x.exp()?.to_vec_blocking::<f32>()?, &exp, 1e-5);
    }
    assert_eq!(stats(&device).dropped, 8);
    // A running evaluation keeps its code.
    set_code_limit(limit);
    std::thread::scope(|scope| {
        let turns = |own: usize| {
            let (x, values) = (x.clone(), &values);
            move || -> Result<(), Error> {
                for round in 0..12 {
                    let y = if (round + own).is_multiple_of(3) { x.abs()? } else { x.neg()?.abs()? };
                    let expected: Vec<f32> = values.iter().map(|x| x.abs()).collect();
                    assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-5);
                }
                Ok(())
            }
        };
        let threads: Vec<_> = (0..3).map(|own| scope.spawn(turns(own))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    // An evaluation beyond the limit fails each time and evicts nothing.
    set_code_limit(1000);
    let dropped = stats(&device).dropped;
    let new = x.tanh()?;
    for _ in 0..2 {
        let error = new.eval().expect_err("no room");
        assert!(matches!(&error, Error::CodeLimit { .. }) && error.to_string().contains("set_code_limit"), "{error}");
    }
    assert!(!new.is_evaluated()? && stats(&device).dropped == dropped);
    set_code_limit(256 << 20);
    let expected: Vec<f32> = values.iter().map(|x| x.tanh()).collect();
    assert_near(&new.to_vec_blocking::<f32>()?, &expected, 1e-5);
    Ok(())
}
