//! Training cases: gradients of a norm, attention and an embedding, and a step with AdamW, captured once and replayed.

use std::{cell::RefCell, rc::Rc};

use fuse_gpu::{Device, Error, Tensor0, Tensor1, Tensor2, fuse};

use crate::{
    block_formulas::{HEAD, moments},
    blocks::attention_size,
    cases::{Case, Sizes, extents},
    data::{A, B, C, D, Real, Values, worst, worst_error},
    formulas::{Prepared, upload},
};

fuse! {
    use fuse_kernels::optimizers::{adamw, adamw_matrix};

    /// Gradients of a layer norm by all its operands; `g` is the gradient of the result.
    pub fn norm_gradient(x: f32[M, N], gamma: f32[N], beta: f32[N], g: f32[M, N]) -> (f32[M, N], f32[N], f32[N]) {
        grad(layer_norm(x, gamma, beta), wrt = [x, gamma, beta], cotangent = g)
    }

    /// Attention and its gradients; `g` is the gradient of the result.
    pub fn attention_gradient<T: Float>(
        q: T[H, S, 64], k: T[H, S, 64], v: T[H, S, 64], g: T[H, S, 64],
    ) -> (T[H, S, 64], T[H, S, 64], T[H, S, 64], T[H, S, 64]) {
        let y = matmul(softmax(matmul(q, transpose(k)) * 0.125), v);
        let (dq, dk, dv) = grad(y, wrt = [q, k, v], cotangent = g);
        (y, dq, dk, dv)
    }

    pub fn embedding_gradient(table: f32[V, N], ids: i32[S], g: f32[S, N]) -> f32[V, N] {
        grad(embedding(table, ids), wrt = table, cotangent = g)
    }

    /// Training step number `count`, from 0, of three layers with AdamW. Returns the loss of the batch.
    pub fn step(
        x: f32[B, K], classes: i32[B], count: &mut f32[],
        w1: &mut f32[K, H], b1: &mut f32[H], w2: &mut f32[H, L], b2: &mut f32[L], w3: &mut f32[L, C], b3: &mut f32[C],
        m1: &mut f32[K, H], s1: &mut f32[K, H], mb1: &mut f32[H], sb1: &mut f32[H],
        m2: &mut f32[H, L], s2: &mut f32[H, L], mb2: &mut f32[L], sb2: &mut f32[L],
        m3: &mut f32[L, C], s3: &mut f32[L, C], mb3: &mut f32[C], sb3: &mut f32[C],
    ) -> f32 {
        let hidden = relu(matmul(relu(matmul(x, w1) + b1), w2) + b2);
        let loss = mean(cross_entropy(matmul(hidden, w3) + b3, classes));
        let (dw1, db1, dw2, db2, dw3, db3) = grad(loss, wrt = [w1, b1, w2, b2, w3, b3]);
        let number = count + 1.0;
        (*w1, *m1, *s1) = adamw_matrix(w1, dw1, m1, s1, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        (*b1, *mb1, *sb1) = adamw(b1, db1, mb1, sb1, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        (*w2, *m2, *s2) = adamw_matrix(w2, dw2, m2, s2, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        (*b2, *mb2, *sb2) = adamw(b2, db2, mb2, sb2, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        (*w3, *m3, *s3) = adamw_matrix(w3, dw3, m3, s3, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        (*b3, *mb3, *sb3) = adamw(b3, db3, mb3, sb3, 0.001, 0.9, 0.999, 1e-8, 0.01, number);
        *count = number;
        loss
    }
}

pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    type H = fuse_gpu::f16;
    let mut cases: Vec<Case> = sizes.norm_gradients.iter().map(|&shape| norm(shape)).collect();
    for &shape in sizes.attention_gradients {
        cases.extend([attention::<f32>(shape), attention::<H>(shape)]);
    }
    cases.extend(sizes.embeddings.iter().map(|&shape| table(shape)));
    cases.extend(sizes.networks.iter().map(|&shape| network(shape)));
    cases
}

/// Launches that return their results.
pub(crate) fn of<Y: 'static>(
    launch: impl Fn() -> Result<Y, Error> + 'static,
    error: impl Fn(Y) -> Result<f64, Error> + 'static,
) -> Prepared {
    let launch = Rc::new(launch);
    let again = launch.clone();
    Prepared { launch: Box::new(move || launch().map(drop)), error: Box::new(move || error(again()?)) }
}

fn norm([m, n]: [usize; 2]) -> Case {
    Case {
        formula: "layer_norm gradient",
        f16: false,
        size: format!("{m}x{n}"),
        // Moments, the normalized value, three products, two sums along rows, two along columns.
        flops: (16 * m * n) as f64,
        bytes: (4 * 3 * m * n + 4 * 4 * n) as f64,
        tokens: 0.0,
        function: || &norm_gradient::FUNCTION,
        prepare: Box::new(move |device| {
            let (x, g) = (upload::<f32, 2>(device, A, [m, n])?, upload::<f32, 2>(device, D, [m, n])?);
            let (gamma, beta) = (upload::<f32, 1>(device, B, [n])?, upload::<f32, 1>(device, C, [n])?);
            let row = move |i: usize| (i / n * n..i / n * n + n).map(|j| A.at(j));
            let expected = move |i: usize| {
                let (mean, scale) = moments(row(i));
                let normal = |j: usize| (A.at(j) - mean) * scale;
                let scaled = |j: usize| D.at(j) * B.at(j % n);
                let all = i / n * n..i / n * n + n;
                let sum = all.clone().map(scaled).sum::<f64>() / n as f64;
                let product = all.map(|j| scaled(j) * normal(j)).sum::<f64>() / n as f64;
                scale * (scaled(i) - sum - normal(i) * product)
            };
            let columns = move |j: usize| {
                (0..m)
                    .map(|i| {
                        let (mean, scale) = moments(row(i * n));
                        D.at(i * n + j) * (A.at(i * n + j) - mean) * scale
                    })
                    .sum()
            };
            Ok(of(
                move || norm_gradient(&x, &gamma, &beta, &g),
                move |(dx, dgamma, dbeta)| {
                    let rows = worst_error(&dx.to_vec_blocking()?, n, &expected);
                    let sums = dbeta.to_vec_blocking()?;
                    let sums = worst_error(&sums, m, &|j| (0..m).map(|i| D.at(i * n + j)).sum());
                    let first = worst_error(&dgamma.to_vec_blocking()?[..1], m, &columns);
                    Ok(rows.max(sums).max(first))
                },
            ))
        }),
    }
}

/// Up to here the host computes all scores of a head.
const MOST_QUERIES: usize = 1024;

struct Score {
    weight: f64,
    gradient: f64,
}

impl Score {
    /// Scores of a query, counted over all heads, for the keys of its head.
    fn row(query: usize, length: usize) -> impl Iterator<Item = Self> {
        let dot = move |x: Values, y: Values, key: usize| {
            x.dot(y, (0..HEAD).map(|d| (query * HEAD + d, key * HEAD + d)), |x| x)
        };
        let keys = query / length * length..query / length * length + length;
        let exponentials: Vec<f64> = keys.clone().map(|key| (0.125 * dot(A, B, key)).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        let weights: Vec<f64> = exponentials.iter().map(|x| x / sum).collect();
        let of_weights: Vec<f64> = keys.map(|key| dot(D, C, key)).collect();
        let mean: f64 = weights.iter().zip(&of_weights).map(|(weight, gradient)| weight * gradient).sum();
        let pairs = weights.into_iter().zip(of_weights);
        pairs.map(move |(weight, gradient)| Self { weight, gradient: weight * (gradient - mean) })
    }
}

fn attention<T: Real>([heads, length]: [usize; 2]) -> Case {
    let elements = heads * length * HEAD;
    Case {
        formula: "attention and gradients",
        f16: T::DTYPE.bytes() == 2,
        size: attention_size([heads, length, length]),
        // Two products forward, five backward; recomputation does not count.
        flops: 14.0 * (elements * length) as f64,
        bytes: 8.0 * elements as f64 * T::DTYPE.bytes() as f64,
        tokens: 0.0,
        function: || attention_gradient::function::<T>(),
        prepare: Box::new(move |device| {
            let shape = [heads, length, HEAD];
            let (q, k) = (upload::<T, 3>(device, A, shape)?, upload::<T, 3>(device, B, shape)?);
            let (v, g) = (upload::<T, 3>(device, C, shape)?, upload::<T, 3>(device, D, shape)?);
            let queries = move |i: usize| {
                let (query, column) = (i / HEAD, i % HEAD);
                let first = query / length * length;
                let terms = Score::row(query, length)
                    .enumerate()
                    .map(|(key, score)| score.gradient * B.at((first + key) * HEAD + column));
                0.125 * terms.sum::<f64>()
            };
            Ok(of(
                move || attention_gradient(&q, &k, &v, &g),
                move |(_, dq, dk, dv)| {
                    let queries = worst_error(&dq.to_vec_blocking()?, HEAD, &queries);
                    if length > MOST_QUERIES {
                        return Ok(queries);
                    }
                    let scores: Vec<Vec<Score>> =
                        (0..length).map(|query| Score::row(query, length).collect()).collect();
                    let sum = |i: usize, values: Values, weight: fn(&Score) -> f64| {
                        let (key, column) = (i / HEAD, i % HEAD);
                        scores
                            .iter()
                            .enumerate()
                            .map(|(query, row)| weight(&row[key]) * values.at(query * HEAD + column))
                            .sum::<f64>()
                    };
                    let (dk, dv) = (dk.to_vec_blocking()?, dv.to_vec_blocking()?);
                    let keys =
                        worst_error(&dk[..length * HEAD], length, &|i| 0.125 * sum(i, A, |score| score.gradient));
                    let values = worst_error(&dv[..length * HEAD], length, &|i| sum(i, D, |score| score.weight));
                    Ok(worst([queries, keys, values]))
                },
            ))
        }),
    }
}

fn table([rows, columns, ids]: [usize; 3]) -> Case {
    // Every other position reads one of the first rows, as in texts.
    let id = move |i: usize| if i.is_multiple_of(2) { i * 7919 % rows } else { i * 31 % rows.min(97) };
    Case {
        formula: "embedding gradient",
        f16: false,
        size: extents([rows, columns, ids]),
        flops: (ids * columns) as f64,
        bytes: (4 * (ids * columns + rows * columns + ids)) as f64,
        tokens: ids as f64,
        function: || &embedding_gradient::FUNCTION,
        prepare: Box::new(move |device| {
            let positions = Tensor1::from_vec(device, (0..ids).map(|i| id(i) as i32).collect(), [ids])?;
            let (values, g) =
                (upload::<f32, 2>(device, A, [rows, columns])?, upload::<f32, 2>(device, B, [ids, columns])?);
            let expected = move |i: usize| {
                (0..ids).filter(|&at| id(at) == i / columns).map(|at| B.at(at * columns + i % columns)).sum()
            };
            Ok(of(
                move || embedding_gradient(&values, &positions, &g),
                move |gradient| Ok(worst_error(&gradient.to_vec_blocking()?, ids, &expected)),
            ))
        }),
    }
}

type Trained<T> = [T; 3];

struct Network {
    x: Tensor2<f32>,
    classes: Tensor1<i32>,
    count: Tensor0<f32>,
    weights: [Trained<Tensor2<f32>>; 3],
    rows: [Trained<Tensor1<f32>>; 3],
}

impl Network {
    fn new(device: &Device, [k, h, l, c, b]: [usize; 5]) -> Result<Self, Error> {
        let weight = |rows: usize, columns: usize| -> Result<Trained<Tensor2<f32>>, Error> {
            let scale = (rows as f32).sqrt().recip();
            let values = (0..rows * columns).map(|i| B.at(i) as f32 * scale).collect();
            let zeros = || Tensor2::zeros(device, [rows, columns]);
            Ok([Tensor2::from_vec(device, values, [rows, columns])?, zeros()?, zeros()?])
        };
        let row = |n: usize| -> Result<Trained<Tensor1<f32>>, Error> {
            Ok([Tensor1::zeros(device, [n])?, Tensor1::zeros(device, [n])?, Tensor1::zeros(device, [n])?])
        };
        Ok(Self {
            x: upload(device, A, [b, k])?,
            classes: Tensor1::from_vec(device, (0..b).map(|i| (i * 7 % c) as i32).collect(), [b])?,
            count: Tensor0::zeros(device, [])?,
            weights: [weight(k, h)?, weight(h, l)?, weight(l, c)?],
            rows: [row(h)?, row(l)?, row(c)?],
        })
    }

    fn step(&mut self) -> Result<Tensor0<f32>, Error> {
        let Self { x, classes, count, weights: [w1, w2, w3], rows: [b1, b2, b3] } = self;
        let ([w1, m1, s1], [w2, m2, s2], [w3, m3, s3]) = (w1, w2, w3);
        let ([b1, mb1, sb1], [b2, mb2, sb2], [b3, mb3, sb3]) = (b1, b2, b3);
        step(x, classes, count, w1, b1, w2, b2, w3, b3, m1, s1, mb1, sb1, m2, s2, mb2, sb2, m3, s3, mb3, sb3)
    }
}

/// Checks that the loss falls; `tests/programs` compares steps.
fn network(shape: [usize; 5]) -> Case {
    let [k, h, l, c, b] = shape;
    let weights = k * h + h * l + l * c;
    Case {
        formula: "training step, AdamW",
        f16: false,
        size: shape.map(|extent| extent.to_string()).join("x"),
        // One product forward and two backward, without the input's gradient; 14 operations per parameter.
        flops: (b * (6 * weights - 2 * k * h) + 14 * weights) as f64,
        // Weights: two reads, one write; each moment: one read, one write.
        bytes: (4 * 7 * weights) as f64,
        tokens: 0.0,
        function: || &step::FUNCTION,
        prepare: Box::new(move |device| {
            let network = Rc::new(RefCell::new(Network::new(device, shape)?));
            let before = network.borrow_mut().step()?.to_vec_blocking()?[0];
            let captured = network.clone();
            let (sequence, loss) = device.capture(move || captured.borrow_mut().step())?;
            let sequence = Rc::new(sequence);
            let again = sequence.clone();
            let error = move || {
                (0..20).try_for_each(|_| again.replay())?;
                let after = loss.to_vec_blocking()?[0];
                Ok(f64::from(after / before))
            };
            let launch = move || {
                let _state = &network;
                sequence.replay()
            };
            Ok(Prepared { launch: Box::new(launch), error: Box::new(error) })
        }),
    }
}
