//! Formulas of blocks: rows, norms, attention, gated and normalized products.

use std::ops::Range;

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, Tensor3};

use crate::{
    data::{A, B, C, D, Real, Values, gelu},
    formulas::{Formula, Launch1, Launch2, Launch3, Uploaded, prepared, upload},
};

pub(crate) const HEAD: usize = 64;
pub(crate) const WINDOW: usize = 256;
/// Columns of a normalized product.
pub(crate) const NORMED: usize = 384;

/// `launch_into`: matrix, two rows.
pub(crate) type LaunchNorm<T> = fn(&Tensor2<T>, &Tensor1<T>, &Tensor1<T>, &mut Tensor2<T>) -> Result<(), Error>;
/// `launch_into`: x, row gamma, w.
pub(crate) type LaunchNormProduct<T> = fn(&Tensor2<T>, &Tensor1<T>, &Tensor2<T>, &mut Tensor2<T>) -> Result<(), Error>;
/// `launch_into`: x, w, r, rows gamma and beta.
pub(crate) type LaunchProductNorm<T> =
    fn(&Tensor2<T>, &Tensor2<T>, &Tensor2<T>, &Tensor1<T>, &Tensor1<T>, &mut Tensor2<T>) -> Result<(), Error>;
pub(crate) type LaunchSum<const D: usize, const R: usize> =
    fn(&Tensor<f32, D>, &mut Tensor<f32, R>) -> Result<(), Error>;

fn block<T: Real, L>(
    name: &'static str,
    operands: &[&[usize]],
    result: &[usize],
    flops: f64,
    upload: impl Fn(&Device) -> Result<Uploaded<L>, Error> + 'static,
) -> Formula<L> {
    Formula {
        name,
        f16: T::DTYPE.bytes() == 2,
        operands: operands.iter().map(|shape| shape.to_vec()).collect(),
        result: result.to_vec(),
        flops,
        upload: Box::new(upload),
    }
}

pub(crate) fn softmax<T: Real>([m, n]: [usize; 2]) -> Formula<Launch1<Tensor2<T>>> {
    // Maximum, difference, exponential, sum, quotient.
    block::<T, _>("softmax", &[&[m, n]], &[m, n], (5 * m * n) as f64, move |device| {
        let (x, device) = (upload::<T, 2>(device, A, [m, n])?, device.clone());
        Ok(Box::new(move |launch: Launch1<Tensor2<T>>| {
            let x = Tensor2::clone(&x);
            let expected = move |i: usize| {
                let row = i / n * n;
                A.at(i).exp() / (row..row + n).map(|j| A.at(j).exp()).sum::<f64>()
            };
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, 0, move |y| launch(&x, y), expected))
        }))
    })
}

/// Mean and variance.
pub(crate) fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (mean, values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / count)
}

/// Mean and 1/√(variance + 1e-5).
pub(crate) fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (mean, variance) = mean_and_variance(values);
    (mean, (variance + 1e-5).sqrt().recip())
}

pub(crate) fn norm<T: Real>([m, n]: [usize; 2]) -> Formula<LaunchNorm<T>> {
    // Sum, difference, square, sum, three steps to the normalized value, gelu.
    block::<T, _>("gelu(layer_norm)", &[&[m, n], &[n], &[n]], &[m, n], (8 * m * n) as f64, move |device| {
        let x = upload::<T, 2>(device, A, [m, n])?;
        let (gamma, beta) = (upload::<T, 1>(device, B, [n])?, upload::<T, 1>(device, C, [n])?);
        let device = device.clone();
        Ok(Box::new(move |launch: LaunchNorm<T>| {
            let (x, gamma, beta) = (x.clone(), gamma.clone(), beta.clone());
            let expected = move |i: usize| {
                let row = i / n * n;
                let (mean, scale) = moments((row..row + n).map(|j| A.at(j)));
                gelu((A.at(i) - mean) * scale * B.at(i % n) + C.at(i % n))
            };
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, 8, move |y| launch(&x, &gamma, &beta, y), expected))
        }))
    })
}

pub(crate) fn column_sum(n: usize) -> Formula<LaunchSum<2, 1>> {
    block::<f32, _>("sum over rows", &[&[n, n]], &[n], (n * n) as f64, move |device| {
        let (x, device) = (upload::<f32, 2>(device, A, [n, n])?, device.clone());
        Ok(Box::new(move |launch: LaunchSum<2, 1>| {
            let x = x.clone();
            let expected = move |i: usize| (0..n).map(|row| A.at(row * n + i)).sum();
            Ok(prepared(Tensor1::zeros(&device, [n])?, n, move |y| launch(&x, y), expected))
        }))
    })
}

pub(crate) fn total(n: usize) -> Formula<LaunchSum<1, 0>> {
    block::<f32, _>("sum of all", &[&[n]], &[], n as f64, move |device| {
        let (x, device) = (upload::<f32, 1>(device, A, [n])?, device.clone());
        Ok(Box::new(move |launch: LaunchSum<1, 0>| {
            let x = x.clone();
            let expected = move |_: usize| (0..n).map(|i| A.at(i)).sum();
            Ok(prepared(Tensor::zeros(&device, [])?, n, move |y| launch(&x, y), expected))
        }))
    })
}

/// `softmax(q·kᵀ/8)·v`, as many queries as keys.
pub(crate) fn attention<T: Real>(shape: [usize; 3]) -> Formula<Launch3<Tensor3<T>>> {
    attention_of::<T>("attention", shape, |_, keys| 0..keys)
}

/// A query sees keys up to its own position.
pub(crate) fn causal<T: Real>([heads, length]: [usize; 2]) -> Formula<Launch3<Tensor3<T>>> {
    let whole = attention_of::<T>("causal attention", [heads, length, length], |query, _| 0..query + 1);
    Formula { flops: whole.flops / 2.0, ..whole }
}

/// A query sees the last [`WINDOW`] keys.
pub(crate) fn windowed<T: Real>([heads, length]: [usize; 2]) -> Formula<Launch3<Tensor3<T>>> {
    let seen = |query: usize, _| (query + 1).saturating_sub(WINDOW)..query + 1;
    let whole = attention_of::<T>("window attention", [heads, length, length], seen);
    Formula { flops: 4.0 * (heads * length * WINDOW.min(length) * HEAD) as f64, ..whole }
}

fn attention_of<T: Real>(
    name: &'static str,
    [heads, queries, keys]: [usize; 3],
    seen: fn(usize, usize) -> Range<usize>,
) -> Formula<Launch3<Tensor3<T>>> {
    let (left, right) = ([heads, queries, HEAD], [heads, keys, HEAD]);
    let flops = 4.0 * (heads * queries * keys * HEAD) as f64;
    block::<T, _>(name, &[&left, &right, &right], &left, flops, move |device| {
        let q = upload::<T, 3>(device, A, left)?;
        let (k, v) = (upload::<T, 3>(device, B, right)?, upload::<T, 3>(device, C, right)?);
        let device = device.clone();
        Ok(Box::new(move |launch: Launch3<Tensor3<T>>| {
            let (q, k, v) = (q.clone(), k.clone(), v.clone());
            let expected = move |i: usize| {
                let (head, query, column) = (i / (queries * HEAD), i / HEAD % queries, i % HEAD);
                let score = |key: usize| {
                    let at = |d: usize| ((head * queries + query) * HEAD + d, (head * keys + key) * HEAD + d);
                    (A.dot(B, (0..HEAD).map(at), |x| x) * 0.125).exp()
                };
                let scores: Vec<f64> = seen(query, keys).map(score).collect();
                let weighted =
                    scores.iter().zip(seen(query, keys)).map(|(p, key)| p * C.at((head * keys + key) * HEAD + column));
                weighted.sum::<f64>() / scores.iter().sum::<f64>()
            };
            Ok(prepared(Tensor3::zeros(&device, left)?, HEAD, move |y| launch(&q, &k, &v, y), expected))
        }))
    })
}

pub(crate) fn cosine<T: Real>([m, n, k]: [usize; 3]) -> Formula<Launch2<Tensor2<T>>> {
    block::<T, _>("cosine", &[&[m, k], &[n, k]], &[m, n], 2.0 * (m * n * k) as f64, move |device| {
        let (x, y) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [n, k])?);
        let device = device.clone();
        Ok(Box::new(move |launch: Launch2<Tensor2<T>>| {
            let (x, y) = (x.clone(), y.clone());
            let expected = move |i: usize| {
                let (left, right) = (i / n * k, i % n * k);
                let length =
                    |values: Values, row: usize| (row..row + k).map(|j| values.at(j).powi(2)).sum::<f64>().sqrt();
                A.dot(B, (0..k).map(|d| (left + d, right + d)), |x| x) / (length(A, left) * length(B, right))
            };
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |result| launch(&x, &y, result), expected))
        }))
    })
}

pub(crate) fn gated<T: Real>([m, n, k]: [usize; 3]) -> Formula<Launch3<Tensor2<T>>> {
    let flops = 4.0 * (m * n * k) as f64;
    block::<T, _>("silu(x·g) * (x·u)", &[&[m, k], &[k, n], &[k, n]], &[m, n], flops, move |device| {
        let x = upload::<T, 2>(device, A, [m, k])?;
        let (g, u) = (upload::<T, 2>(device, B, [k, n])?, upload::<T, 2>(device, C, [k, n])?);
        let device = device.clone();
        Ok(Box::new(move |launch: Launch3<Tensor2<T>>| {
            let (x, g, u) = (x.clone(), g.clone(), u.clone());
            let expected = move |i: usize| {
                let pairs = || (0..k).map(move |d| (i / n * k + d, d * n + i % n));
                let (gate, up) = (A.dot(B, pairs(), |x| x), A.dot(C, pairs(), |x| x));
                gate / (1.0 + (-gate).exp()) * up
            };
            // Each product's error is scaled by the other.
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, 64 * k, move |y| launch(&x, &g, &u, y), expected))
        }))
    })
}

pub(crate) fn norm_product<T: Real>([m, n, k]: [usize; 3]) -> Formula<LaunchNormProduct<T>> {
    let flops = 2.0 * (m * n * k) as f64;
    block::<T, _>("rms_norm(x)·w", &[&[m, k], &[k], &[k, n]], &[m, n], flops, move |device| {
        let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [k, n])?);
        let (gamma, device) = (upload::<T, 1>(device, C, [k])?, device.clone());
        Ok(Box::new(move |launch: LaunchNormProduct<T>| {
            let (x, gamma, w) = (x.clone(), gamma.clone(), w.clone());
            let expected = move |i: usize| {
                let (row, column) = (i / n * k, i % n);
                let squares = (row..row + k).map(|d| A.at(d) * A.at(d)).sum::<f64>();
                let scale = (squares / k as f64 + 1e-6).sqrt().recip();
                (0..k).map(|d| A.at(row + d) * scale * C.at(d) * B.at(d * n + column)).sum()
            };
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |y| launch(&x, &gamma, &w, y), expected))
        }))
    })
}

/// `layer_norm(x·w + r, gamma, beta)` with [`NORMED`] columns.
pub(crate) fn product_norm<T: Real>([m, k]: [usize; 2]) -> Formula<LaunchProductNorm<T>> {
    const N: usize = NORMED;
    let operands: [&[usize]; 5] = [&[m, k], &[k, N], &[m, N], &[N], &[N]];
    block::<T, _>("layer_norm(x·w + r)", &operands, &[m, N], 2.0 * (m * N * k) as f64, move |device| {
        let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [k, N])?);
        let r = upload::<T, 2>(device, C, [m, N])?;
        let (gamma, beta) = (upload::<T, 1>(device, D, [N])?, upload::<T, 1>(device, A, [N])?);
        let device = device.clone();
        Ok(Box::new(move |launch: LaunchProductNorm<T>| {
            let (x, w, r, gamma, beta) = (x.clone(), w.clone(), r.clone(), gamma.clone(), beta.clone());
            let expected = move |i: usize| {
                let (row, column) = (i / N, i % N);
                let value = |n: usize| A.dot(B, (0..k).map(|d| (row * k + d, d * N + n)), |x| x) + C.at(row * N + n);
                let values: Vec<f64> = (0..N).map(value).collect();
                let (mean, scale) = moments(values.iter().copied());
                (values[column] - mean) * scale * D.at(column) + A.at(column)
            };
            let launch = move |y: &mut Tensor2<T>| launch(&x, &w, &r, &gamma, &beta, y);
            Ok(prepared(Tensor2::zeros(&device, [m, N])?, k, launch, expected))
        }))
    })
}
