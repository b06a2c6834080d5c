//! Reductions, rows, joins and gathers in both forms of `fuse!`: the expression form takes ranks from its operands and
//! computes the same.

use fuse_gpu::{Device, Error, Tensor, Tensor0, Tensor1, Tensor2, Tensor3, fuse};

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fn tensor<const D: usize>(device: &Device, shape: [usize; D]) -> Tensor<f32, D> {
    let count: usize = shape.iter().product();
    let data = (0..count).map(|i| (i as f32 * 0.7).sin()).collect();
    Tensor::from_vec(device, data, shape).expect("a tensor")
}

fn same<const D: usize>(found: &Tensor<f32, D>, expected: &Tensor<f32, D>) {
    assert_eq!(found.shape(), expected.shape());
    let values = |x: &Tensor<f32, D>| x.to_vec_blocking().expect("the values");
    for (i, (found, expected)) in values(found).into_iter().zip(values(expected)).enumerate() {
        assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "[{i}]: {found}, expected {expected}");
    }
}

fuse! {
    fn row_sums(x: f32[B, M, N]) -> f32[B, M] {
        sum(x, axis = N)
    }

    fn whole_mean(x: f32[B, M, N]) -> f32 {
        mean(x)
    }

    fn spread(x: f32[B, M, N]) -> f32[1, M, 1] {
        var(x, axis = [0, 2], keepdim = true)
    }

    fn probabilities(x: f32[B, M, N]) -> f32[B, M, N] {
        softmax(x)
    }

    fn normalized(x: f32[B, M, N], gamma: f32[N], beta: f32[N]) -> f32[B, M, N] {
        layer_norm(x, gamma, beta, eps = 1e-3)
    }

    fn joined(x: f32[M, N], y: f32[K, N]) -> f32[M + K, N] {
        concat([x, y], axis = 0)
    }

    fn embedded(table: f32[V, D], ids: i32[B, S]) -> f32[B, S, D] {
        embedding(table, ids)
    }

    fn thinned(x: f32[M, N], p: f32, seed: u32) -> f32[M, N] {
        dropout(x, p, seed)
    }

    fn grouped(x: f32[B, C, L], gamma: f32[C], beta: f32[C]) -> f32[B, C, L] {
        group_norm(x, gamma, beta, groups = 3)
    }

    fn channels(x: f32[B, C, L], m: f32[C], v: f32[C], gamma: f32[C], beta: f32[C]) -> f32[B, C, L] {
        batch_norm(x, m, v * v, gamma, beta)
    }

    fn mean_of_columns(x: f32[M, N]) -> f32[N] {
        sum(x, axis = 0) / (M as f32)
    }
}

#[test]
fn reductions() -> Result<(), Error> {
    let device = device();
    let x: Tensor3<f32> = tensor(&device, [2, 5, 7]);
    let sums: Tensor2<f32> = fuse!(sum(x, axis = -1))?;
    same(&sums, &row_sums(&x)?);
    let mean: Tensor0<f32> = fuse!(mean(x))?;
    same(&mean, &whole_mean(&x)?);
    let variance: Tensor3<f32> = fuse!(var(x, axis = [-1, -3], keepdim = true))?;
    same(&variance, &spread(&x)?);
    let centered: Tensor3<f32> = fuse!(x - unsqueeze(mean(x, axis = -1), axis = -1))?;
    let none: Tensor0<f32> = fuse!(sum(centered))?;
    assert!(none.to_vec_blocking()?[0].abs() < 1e-4);
    let largest: Tensor1<i32> = fuse!(argmax(reshape(x, [10, 7]), axis = -1))?;
    let place = |row: &[f32]| (0..7).max_by(|a, b| row[*a].total_cmp(&row[*b])).expect("7 elements") as i32;
    let expected: Vec<i32> = x.to_vec_blocking()?.chunks(7).map(place).collect();
    assert_eq!(largest.to_vec_blocking()?, expected);
    Ok(())
}

#[test]
fn rows() -> Result<(), Error> {
    let device = device();
    let x: Tensor3<f32> = tensor(&device, [2, 5, 7]);
    let (gamma, beta): (Tensor1<f32>, Tensor1<f32>) = (tensor(&device, [7]), tensor(&device, [7]));
    same(&fuse!(softmax(x))?, &probabilities(&x)?);
    same(&fuse!(layer_norm(x, gamma, beta, eps = 1e-3))?, &normalized(&x, &gamma, &beta)?);
    let short: Tensor1<f32> = tensor(&device, [6]);
    let error = fuse!(layer_norm(x, short, beta)).expect_err("6 scales for 7 elements").to_string();
    assert!(error.contains("length of `gamma` of `layer_norm`"), "{error}");
    Ok(())
}

#[test]
fn norms_of_channels() -> Result<(), Error> {
    let device = device();
    let x: Tensor3<f32> = tensor(&device, [2, 6, 5]);
    let (gamma, beta): (Tensor1<f32>, Tensor1<f32>) = (tensor(&device, [6]), tensor(&device, [6]));
    let values = x.to_vec_blocking()?;
    let scales = gamma.to_vec_blocking()?;
    let expected: Vec<f32> = (0..values.len())
        .map(|at| {
            let group = &values[at / 10 * 10..][..10];
            let mean = group.iter().sum::<f32>() / 10.0;
            let variance = group.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 10.0;
            let channel = at / 5 % 6;
            (values[at] - mean) / (variance + 1e-5).sqrt() * scales[channel] + scales[channel]
        })
        .collect();
    let expected: Tensor3<f32> = Tensor::from_vec(&device, expected, [2, 6, 5])?;
    same(&grouped(&x, &gamma, &beta)?, &expected);
    let narrow: Tensor3<f32> = tensor(&device, [2, 4, 5]);
    let four: Tensor1<f32> = tensor(&device, [4]);
    let error = grouped(&narrow, &four, &four).expect_err("4 channels in 3 groups").to_string();
    assert!(error.contains("channels of `group_norm`"), "{error}");
    let squares = fuse!(gamma * gamma)?;
    same(&channels(&x, &beta, &gamma, &gamma, &beta)?, &fuse!(batch_norm(x, beta, squares, gamma, beta, axis = -2))?);
    Ok(())
}

#[test]
fn joins_and_gathers() -> Result<(), Error> {
    let device = device();
    let (x, y): (Tensor2<f32>, Tensor2<f32>) = (tensor(&device, [3, 4]), tensor(&device, [2, 4]));
    same(&fuse!(concat([x, y], axis = -2))?, &joined(&x, &y)?);
    let error = fuse!(concat([x, y], axis = -1)).expect_err("3 and 2 rows").to_string();
    assert!(error.contains("beside its axis"), "{error}");
    let ids = Tensor2::from_vec(&device, vec![2, 0, -4, 9], [2, 2])?;
    let rows: Tensor3<f32> = fuse!(embedding(x, ids))?;
    same(&rows, &embedded(&x, &ids)?);
    let values = x.to_vec_blocking()?;
    let expected: Vec<f32> = [2, 0, 0, 2].iter().flat_map(|row| values[row * 4..][..4].to_vec()).collect();
    assert_eq!(rows.to_vec_blocking()?, expected);
    Ok(())
}

#[test]
fn dropout_follows_the_seed() -> Result<(), Error> {
    let device = device();
    let x = Tensor2::full(&device, 1.0f32, [8, 32])?;
    let (p, seed) = (0.25f32, 7u32);
    let kept = thinned(&x, p, seed)?;
    same(&fuse!(dropout(x, p, seed))?, &kept);
    let zeros =
        |x: &Tensor2<f32>| -> Result<usize, Error> { Ok(x.to_vec_blocking()?.iter().filter(|x| **x == 0.0).count()) };
    assert!((32..96).contains(&zeros(&kept)?), "a quarter of 256 is dropped: {}", zeros(&kept)?);
    assert_eq!(zeros(&thinned(&x, 0.0, seed)?)?, 0);
    assert_eq!(zeros(&thinned(&x, 1.0, seed)?)?, 256);
    assert_ne!(thinned(&x, p, 8)?.to_vec_blocking()?, kept.to_vec_blocking()?);
    Ok(())
}

#[test]
fn a_dimension_is_a_number() -> Result<(), Error> {
    let device = device();
    let x: Tensor2<f32> = tensor(&device, [6, 5]);
    same(&mean_of_columns(&x)?, &fuse!(mean(x, axis = -2))?);
    Ok(())
}
