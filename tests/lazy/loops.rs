//! Programs whose sizes and offsets change from step to step compile a constant number of functions.

use fuse_gpu::{
    Device, Tensor2,
    auto::{Dim, Error, LazyTensor, eval_all, grad, stats},
    fuse,
};

use super::{assert_near, device, lazy, random};

fuse! {
    fn window(x: f32[N, K], start: u32, count: u32) -> f32[count, K] {
        slice(x, axis = 0, start = start, end = start + count)
    }

    fn windows(x: f32[N, K], start: u32) -> (f32[2, K], f32[N, K], f32) {
        let y = window(x, start, 2);
        (y, window(x, 0, N as u32), grad_free(y) * (start as f32))
    }

    fn grad_free(x: f32[M, K]) -> f32 {
        sum(x)
    }
}

fn rows(values: &[f32], columns: usize, from: usize, to: usize) -> Vec<f64> {
    values[from * columns..to * columns].iter().map(|&x| f64::from(x)).collect()
}

fn product(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let at = |place: usize| (0..k).map(|j| a[place / n * k + j] * b[j * n + place % n]).sum();
    (0..m * n).map(at).collect()
}

fn transposed(a: &[f64], columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|column| a.iter().skip(column).step_by(columns).copied()).collect()
}

fn to_f32(values: &[f64]) -> Vec<f32> {
    values.iter().map(|&x| x as f32).collect()
}

fn matrix<const M: usize, const N: usize>(device: &Device, rows: [[f32; N]; M]) -> Result<LazyTensor, Error> {
    Ok(LazyTensor::from(Tensor2::from_vec(device, rows.concat(), [M, N])?))
}

#[test]
fn an_epoch_of_batches_compiles_once() -> Result<(), Error> {
    const BATCH: usize = 4;
    const BATCHES: usize = 320;
    const ROWS: usize = BATCH * BATCHES - 1;
    let device = device();
    let ((x, x_values), (y, y_values)) = (lazy(&device, [ROWS, 3], 1), lazy(&device, [ROWS, 1], 2));
    let (mut w, start) = lazy(&device, [3, 1], 3);
    let mut expected = rows(&start, 1, 0, 3);
    for batch in 0..BATCHES {
        let (from, to) = (batch * BATCH, (batch * BATCH + BATCH).min(ROWS));
        let error = x.slice(0, from, to)?.matmul(&w)? - y.slice(0, from, to)?;
        let loss = (&error * &error).mean(())?;
        let [dw] = grad(&loss, &[&w])?.try_into().expect("one");
        let next = &w - 0.05 * dw;
        eval_all(&[&loss, &next])?;
        w = next;

        let (rows_x, rows_y) = (rows(&x_values, 3, from, to), rows(&y_values, 1, from, to));
        let count = to - from;
        let predicted = product(&rows_x, &expected, [count, 3, 1]);
        let error: Vec<f64> = predicted.iter().zip(&rows_y).map(|(a, b)| a - b).collect();
        let gradient = product(&transposed(&rows_x, 3), &error, [3, count, 1]);
        expected.iter_mut().zip(gradient).for_each(|(w, dw)| *w -= 0.05 * 2.0 * dw / count as f64);
    }
    assert_near(&w.to_vec_blocking::<f32>()?, &to_f32(&expected), 1e-4);
    let stats = stats(&device);
    assert_eq!((stats.misses, stats.evaluations), (1, BATCHES as u64), "{stats}");
    Ok(())
}

#[test]
fn a_growing_batch_compiles_a_constant_number() -> Result<(), Error> {
    let device = device();
    let ((x, x_values), (bias, bias_values)) = (lazy(&device, [40, 5], 4), lazy(&device, [1, 5], 5));
    for count in 1..=40 {
        let n = Dim::open(count);
        let batch = x.slice(0, 0, n.clone())?;
        let repeated = bias.broadcast_to([n.clone(), 5.into()])?.exp()?;
        let y = (batch * &repeated).reshape([n * 5usize])?.sum(())? + repeated.mean(())?;
        let products = x_values[..count * 5].iter().enumerate().map(|(i, x)| x * bias_values[i % 5].exp());
        let mean = bias_values.iter().map(|b| b.exp()).sum::<f32>() / 5.0;
        assert_near(&y.to_vec_blocking::<f32>()?, &[products.sum::<f32>() + mean], 1e-4);
    }
    assert!(stats(&device).misses <= 2, "{}", stats(&device));
    Ok(())
}

#[test]
fn a_token_loop_with_a_growing_cache_compiles_a_constant_number() -> Result<(), Error> {
    const D: usize = 8;
    let device = device();
    let ((tokens, token_values), (places, place_values)) = (lazy(&device, [11, D], 6), lazy(&device, [17, D], 7));
    let weights = [8, 9, 10].map(|seed| lazy(&device, [D, D], seed));
    let mut cache: Option<[LazyTensor; 2]> = None;
    let (mut token, mut found) = (3, vec![]);
    let (mut expected_token, mut keys, mut values) = (3, vec![], vec![]);
    for step in 0..17 {
        let h = tokens.slice(0, token, token + 1)? + places.slice(0, step, step + 1)?;
        let [q, k, v] = [0, 1, 2].map(|which| h.matmul(&weights[which].0));
        let (q, mut k, mut v) = (q?, k?, v?);
        if let Some([keys, values]) = &cache {
            (k, v) = (LazyTensor::concat(&[keys, &k], 0)?, LazyTensor::concat(&[values, &v], 0)?);
        }
        let scores = q.matmul(&k.transpose()?)? * 0.35;
        let attended = scores.softmax(1)?.matmul(&v)?;
        let next = attended.matmul(&tokens.transpose()?)?.argmax(1)?;
        eval_all(&[&next, &k, &v])?;
        token = next.to_vec_blocking::<i32>()?[0] as usize;
        cache = Some([k, v]);
        found.push(token);

        let row = |values: &[f32], at: usize| rows(values, D, at, at + 1);
        let (token_row, place_row) = (row(&token_values, expected_token), row(&place_values, step));
        let h: Vec<f64> = token_row.iter().zip(&place_row).map(|(a, b)| a + b).collect();
        let [q, k, v] = [0, 1, 2].map(|which| product(&h, &rows(&weights[which].1, D, 0, D), [1, D, D]));
        keys.extend(k);
        values.extend(v);
        let scores: Vec<f64> =
            product(&keys, &q, [step + 1, D, 1]).iter().map(|score| (score * 0.35f32 as f64).exp()).collect();
        let sum: f64 = scores.iter().sum();
        let attended: Vec<f64> = product(&scores, &values, [1, step + 1, D]).iter().map(|x| x / sum).collect();
        let logits = product(&rows(&token_values, D, 0, 11), &attended, [11, D, 1]);
        expected_token = (0..11).max_by(|&a, &b| logits[a].total_cmp(&logits[b])).expect("some");
        assert_eq!(token, expected_token, "step {step}");
    }
    assert!(stats(&device).misses <= 3, "{found:?} {}", stats(&device));
    Ok(())
}

#[test]
fn steps_of_a_kalman_filter_compile_a_constant_number() -> Result<(), Error> {
    const STEPS: usize = 30;
    let device = device();
    let (measured, measured_values) = lazy(&device, [STEPS, 1], 11);
    // Position and velocity; the position is measured.
    let (step, noise) = (matrix(&device, [[1.0, 0.1], [0.0, 1.0]])?, matrix(&device, [[0.01, 0.0], [0.0, 0.02]])?);
    let (sees, unit) = (matrix(&device, [[1.0, 0.0]])?, matrix(&device, [[1.0, 0.0], [0.0, 1.0]])?);
    let (mut state, mut covariance) = (matrix(&device, [[0.0], [0.0]])?, matrix(&device, [[1.0, 0.0], [0.0, 1.0]])?);
    let (mut position, mut velocity, mut p) = (0.0f64, 0.0f64, [1.0f64, 0.0, 0.0, 1.0]);
    for (at, &seen) in measured_values.iter().enumerate() {
        let predicted = step.matmul(&state)?;
        let spread = step.matmul(&covariance)?.matmul(&step.transpose()?)? + &noise;
        let innovation = measured.slice(0, at, at + 1)? - sees.matmul(&predicted)?;
        let uncertainty = sees.matmul(&spread)?.matmul(&sees.transpose()?)? + 0.5;
        let gain = spread.matmul(&sees.transpose()?)? / uncertainty;
        let next = predicted + gain.matmul(&innovation)?;
        let rest = (&unit - gain.matmul(&sees)?).matmul(&spread)?;
        eval_all(&[&next, &rest])?;
        (state, covariance) = (next, rest);

        position += 0.1 * velocity;
        let [a, b, c, d] = p;
        let (a, b, c, d) = (a + 0.1 * (b + c) + 0.01 * d + 0.01, b + 0.1 * d, c + 0.1 * d, d + 0.02);
        let (gain, slope) = (a / (a + 0.5), c / (a + 0.5));
        let innovation = f64::from(seen) - position;
        position += gain * innovation;
        velocity += slope * innovation;
        p = [(1.0 - gain) * a, (1.0 - gain) * b, c - slope * a, d - slope * b];
        assert_near(&state.to_vec_blocking::<f32>()?, &to_f32(&[position, velocity]), 1e-4);
    }
    assert_near(&covariance.to_vec_blocking::<f32>()?, &to_f32(&p), 1e-4);
    assert_eq!(stats(&device).misses, 1, "{}", stats(&device));
    Ok(())
}

#[test]
fn open_sizes_are_arguments() -> Result<(), Error> {
    let device = device();
    let (x, values) = lazy(&device, [6, 4], 12);
    let y = x.slice(0, 2, 5)?.exp()?;
    let source = y.source()?;
    assert!(source.contains("(x0: f32[A, B], n0: u32, n1: u32) -> f32[n1, B]"), "{source}");
    assert!(source.contains("slice(x0, axis = 0, start = n0, end = n0 + n1)"), "{source}");
    let expected: Vec<f32> = values[8..20].iter().map(|x| x.exp()).collect();
    assert_near(&y.to_vec_blocking::<f32>()?, &expected, 1e-6);
    // Lengths that must be equal are one argument, even if an axis determines them.
    let (other, other_values) = lazy(&device, [3, 4], 13);
    let z = x.slice(0, 3, 6)? + &other;
    assert!(z.source()?.contains("slice(x0, axis = 0, start = n0, end = C + n0)"), "{}", z.source()?);
    let expected: Vec<f32> = values[12..].iter().zip(&other_values).map(|(a, b)| a + b).collect();
    assert_near(&z.to_vec_blocking::<f32>()?, &expected, 1e-6);
    let [dx] = grad(&x.slice(0, 1, 3)?.slice(1, 1, 4)?.sum(())?, &[&x])?.try_into().expect("one");
    let inside = |place: usize| (1..3).contains(&(place / 4)) && place % 4 >= 1;
    let expected: Vec<f32> = (0..24).map(|place| if inside(place) { 1.0 } else { 0.0 }).collect();
    assert_near(&dx.to_vec_blocking::<f32>()?, &expected, 0.0);
    assert_eq!(x.slice(0, 6, 6)?.to_vec_blocking::<f32>()?, [0f32; 0]);
    assert!(x.slice(0, 4, 7).expect_err("beyond").to_string().contains("the slice ends at 7, the axis at 6"));
    assert!(x.slice(0, 5, 4).expect_err("reversed").to_string().contains("starts at 5, after its end 4"));
    assert_eq!(x.slice_from(0, 5)?.to_vec_blocking::<f32>()?, values[20..]);
    Ok(())
}

#[test]
fn functions_take_sizes_as_numbers() -> Result<(), Error> {
    let device = device();
    let x = random(&device, [6, 3], 14);
    let values = x.to_vec_blocking()?;
    for (start, count) in [(0u32, 6u32), (2, 3), (5, 1), (6, 0)] {
        let y: Tensor2<f32> = window(&x, start, count)?;
        assert_eq!(y.shape(), [count as usize, 3]);
        let (from, to) = (start as usize * 3, (start + count) as usize * 3);
        assert_eq!(y.to_vec_blocking()?, values[from..to]);
    }
    let pipelines = device.pipelines();
    window(&x, 1, 2)?;
    assert_eq!(device.pipelines(), pipelines);
    let (y, whole, sum) = windows(&x, 3)?;
    assert_eq!((y.to_vec_blocking()?, whole.to_vec_blocking()?), (values[9..15].to_vec(), values.clone()));
    assert_near(&sum.to_vec_blocking()?, &[3.0 * values[9..15].iter().sum::<f32>()], 1e-5);
    // A launch checks bounds and reads nothing outside.
    for (start, count) in [(5, 2), (7, 0), (0, 7), (u32::MAX, 2)] {
        let error = window(&x, start, count).expect_err("beyond the end").to_string();
        assert!(
            error.contains("`window`") && error.contains("`count + start` (") && error.contains("`N` (6)"),
            "{error}"
        );
    }
    Ok(())
}
