//! Cases that are more than a product: rows, norms, attention, gated and normalized products, whole encoder layers.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, Tensor3, artifact::Function, fuse};
use fuse_minilm_model::encoder;

use crate::{
    cases::{Case, Prepare, Sizes},
    data::{A, B, C, D, Real, gelu},
    formulas::{Prepared, prepared, upload},
};

fuse! {
    pub fn row_softmax<T: Float>(x: T[M, N]) -> T[M, N] {
        softmax(x)
    }

    pub fn norm_gelu<T: Float>(x: T[M, N], gamma: T[N], beta: T[N]) -> T[M, N] {
        gelu(layer_norm(x, gamma, beta))
    }

    pub fn column_sum(x: f32[M, N]) -> f32[N] {
        sum(x, axis = 0)
    }

    pub fn total(x: f32[N]) -> f32 {
        sum(x)
    }

    pub fn attention<T: Float>(q: T[H, S, 64], k: T[H, L, 64], v: T[H, L, 64]) -> T[H, S, 64] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }

    pub fn causal<T: Float>(q: T[H, S, 64], k: T[H, S, 64], v: T[H, S, 64]) -> T[H, S, 64] {
        let scores = matmul(q, transpose(k)) * 0.125;
        matmul(softmax(select(index(scores, axis = 2) <= index(scores, axis = 1), scores, -inf)), v)
    }

    pub fn gate_up(x: f32[M, K], g: f32[K, N], u: f32[K, N]) -> f32[M, N] {
        silu(matmul(x, g)) * matmul(x, u)
    }

    pub fn norm_product(x: f32[M, K], gamma: f32[K], w: f32[K, N]) -> f32[M, N] {
        matmul(rms_norm(x, gamma), w)
    }

    pub fn product_norm(x: f32[M, K], w: f32[K, 384], r: f32[M, 384], gamma: f32[384], beta: f32[384]) -> f32[M, 384] {
        layer_norm(matmul(x, w) + r, gamma, beta)
    }
}

/// The cases at the sizes of a run.
pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    type H = fuse_gpu::f16;
    let mut cases = vec![];
    for &shape in sizes.rows {
        cases.extend([softmax::<f32>(shape), softmax::<H>(shape), norm::<f32>(shape), norm::<H>(shape)]);
    }
    for &n in sizes.sums {
        cases.extend([columns(n), whole(n * n)]);
    }
    for &[heads, length] in sizes.attention {
        let shape = [heads, length, length];
        cases.extend([attention_case::<f32>(shape, "attention"), attention_case::<H>(shape, "attention")]);
        cases.extend([attention_case::<f32>(shape, CAUSAL), attention_case::<H>(shape, CAUSAL)]);
        cases.push(attention_case::<f32>([heads, 1, 8 * length], "attention, one query"));
    }
    cases.extend(sizes.gated.iter().map(|&shape| gated(shape)));
    cases.extend(sizes.operands.iter().map(|&shape| normed_operand(shape)));
    cases.extend(sizes.normed.iter().map(|&shape| normed(shape)));
    cases.extend(sizes.texts.iter().flat_map(|&texts| [layers::<f32>(texts), layers::<H>(texts)]));
    cases
}

const CAUSAL: &str = "causal attention";

fn case<T: Real>(
    formula: &'static str,
    size: String,
    work: [f64; 2],
    function: fn() -> &'static Function,
    prepare: Prepare,
) -> Case {
    let [flops, elements] = work;
    Case {
        formula,
        size,
        f16: T::DTYPE.bytes() == 2,
        flops,
        bytes: elements * T::DTYPE.bytes() as f64,
        tokens: 0.0,
        function,
        prepare,
    }
}

/// Floating-point operations and elements moved of rows that take `operations` per element.
fn row_work([m, n]: [usize; 2], operations: usize) -> [f64; 2] {
    [(operations * m * n) as f64, (2 * m * n) as f64]
}

fn softmax<T: Real>([m, n]: [usize; 2]) -> Case {
    // Maximum, difference, exponential, sum, quotient.
    case::<T>("softmax", format!("{m}x{n}"), row_work([m, n], 5), || row_softmax::function::<T>(), {
        Box::new(move |device| {
            let x = upload::<T, 2>(device, A, [m, n])?;
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| {
                let row = i / n * n;
                A.at(i).exp() / (row..row + n).map(|j| A.at(j).exp()).sum::<f64>()
            };
            Ok(prepared(output, 0, move |y| row_softmax::launch_into(&x, y), expected))
        })
    })
}

/// Mean and 1/√(variance + 1e-5) of numbers.
fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (mean, (values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / count + 1e-5).sqrt().recip())
}

fn norm<T: Real>([m, n]: [usize; 2]) -> Case {
    // Sum, difference, square, sum, three steps to the normalized value, gelu.
    case::<T>("gelu(layer_norm)", format!("{m}x{n}"), row_work([m, n], 8), || norm_gelu::function::<T>(), {
        Box::new(move |device| {
            let x = upload::<T, 2>(device, A, [m, n])?;
            let (gamma, beta) = (upload::<T, 1>(device, B, [n])?, upload::<T, 1>(device, C, [n])?);
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| {
                let row = i / n * n;
                let (mean, scale) = moments((row..row + n).map(|j| A.at(j)));
                gelu((A.at(i) - mean) * scale * B.at(i % n) + C.at(i % n))
            };
            Ok(prepared(output, 8, move |y| norm_gelu::launch_into(&x, &gamma, &beta, y), expected))
        })
    })
}

fn columns(n: usize) -> Case {
    case::<f32>("sum over rows", format!("{n}x{n}"), [(n * n) as f64; 2], || &column_sum::FUNCTION, {
        Box::new(move |device| {
            let x = upload::<f32, 2>(device, A, [n, n])?;
            let expected = move |i: usize| (0..n).map(|row| A.at(row * n + i)).sum();
            let output = Tensor1::zeros(device, [n])?;
            Ok(prepared(output, n, move |y| column_sum::launch_into(&x, y), expected))
        })
    })
}

fn whole(n: usize) -> Case {
    case::<f32>("sum of all", format!("{n}"), [n as f64; 2], || &total::FUNCTION, {
        Box::new(move |device| {
            let x = upload::<f32, 1>(device, A, [n])?;
            let expected = move |_: usize| (0..n).map(|i| A.at(i)).sum();
            let output = Tensor::<f32, 0>::zeros(device, [])?;
            Ok(prepared(output, n, move |y| total::launch_into(&x, y), expected))
        })
    })
}

fn attention_case<T: Real>([heads, queries, keys]: [usize; 3], formula: &'static str) -> Case {
    let masked = formula == CAUSAL;
    const HEAD: usize = 64;
    let flops = 4.0 * (heads * queries * keys * HEAD) as f64 * if masked { 0.5 } else { 1.0 };
    let elements = (2 * heads * (queries + keys) * HEAD) as f64;
    let function: fn() -> &'static Function =
        if masked { || causal::function::<T>() } else { || attention::function::<T>() };
    case::<T>(formula, format!("{heads}x{queries}x{keys}x{HEAD}"), [flops, elements], function, {
        Box::new(move |device| {
            let q = upload::<T, 3>(device, A, [heads, queries, HEAD])?;
            let (k, v) =
                (upload::<T, 3>(device, B, [heads, keys, HEAD])?, upload::<T, 3>(device, C, [heads, keys, HEAD])?);
            let output = Tensor3::<T>::zeros(device, [heads, queries, HEAD])?;
            let expected = move |i: usize| {
                let (head, query, column) = (i / (queries * HEAD), i / HEAD % queries, i % HEAD);
                let seen = if masked { query + 1 } else { keys };
                let score = |key: usize| {
                    let at = |d: usize| ((head * queries + query) * HEAD + d, (head * keys + key) * HEAD + d);
                    (A.dot(B, (0..HEAD).map(at), |x| x) * 0.125).exp()
                };
                let scores: Vec<f64> = (0..seen).map(score).collect();
                let weighted = scores.iter().enumerate().map(|(key, p)| p * C.at((head * keys + key) * HEAD + column));
                weighted.sum::<f64>() / scores.iter().sum::<f64>()
            };
            Ok(prepared(
                output,
                HEAD,
                move |y| {
                    if masked { causal::launch_into(&q, &k, &v, y) } else { attention::launch_into(&q, &k, &v, y) }
                },
                expected,
            ))
        })
    })
}

fn gated([m, n, k]: [usize; 3]) -> Case {
    let work = [4.0 * (m * n * k) as f64, (m * k + 2 * k * n + m * n) as f64];
    case::<f32>("silu(x·g) * (x·u)", format!("{m}x{n}x{k}"), work, || &gate_up::FUNCTION, {
        Box::new(move |device| {
            let x = upload::<f32, 2>(device, A, [m, k])?;
            let (g, u) = (upload::<f32, 2>(device, B, [k, n])?, upload::<f32, 2>(device, C, [k, n])?);
            let output = Tensor2::zeros(device, [m, n])?;
            let expected = move |i: usize| {
                let pairs = || (0..k).map(move |d| (i / n * k + d, d * n + i % n));
                let (gate, up) = (A.dot(B, pairs(), |x| x), A.dot(C, pairs(), |x| x));
                gate / (1.0 + (-gate).exp()) * up
            };
            // Errors of each product are scaled by the other.
            Ok(prepared(output, 64 * k, move |y| gate_up::launch_into(&x, &g, &u, y), expected))
        })
    })
}

fn normed([m, k]: [usize; 2]) -> Case {
    const N: usize = 384;
    let work = [2.0 * (m * N * k) as f64, (m * k + k * N + 2 * m * N) as f64];
    case::<f32>("layer_norm(x·w + r)", format!("{m}x{N}x{k}"), work, || &product_norm::FUNCTION, {
        Box::new(move |device| {
            let (x, w) = (upload::<f32, 2>(device, A, [m, k])?, upload::<f32, 2>(device, B, [k, N])?);
            let r = upload::<f32, 2>(device, C, [m, N])?;
            let (gamma, beta) = (upload::<f32, 1>(device, D, [N])?, upload::<f32, 1>(device, A, [N])?);
            let output = Tensor2::zeros(device, [m, N])?;
            let expected = move |i: usize| {
                let (row, column) = (i / N, i % N);
                let value = |n: usize| A.dot(B, (0..k).map(|d| (row * k + d, d * N + n)), |x| x) + C.at(row * N + n);
                let values: Vec<f64> = (0..N).map(value).collect();
                let (mean, scale) = moments(values.iter().copied());
                (values[column] - mean) * scale * D.at(column) + A.at(column)
            };
            Ok(prepared(output, k, move |y| product_norm::launch_into(&x, &w, &r, &gamma, &beta, y), expected))
        })
    })
}

fn normed_operand([m, n, k]: [usize; 3]) -> Case {
    let work = [2.0 * (m * n * k) as f64, (m * k + k * n + m * n) as f64];
    case::<f32>("rms_norm(x)·w", format!("{m}x{n}x{k}"), work, || &norm_product::FUNCTION, {
        Box::new(move |device| {
            let (x, w) = (upload::<f32, 2>(device, A, [m, k])?, upload::<f32, 2>(device, B, [k, n])?);
            let gamma = upload::<f32, 1>(device, C, [k])?;
            let output = Tensor2::zeros(device, [m, n])?;
            let expected = move |i: usize| {
                let (row, column) = (i / n * k, i % n);
                let squares = (row..row + k).map(|d| A.at(d) * A.at(d)).sum::<f64>();
                let scale = (squares / k as f64 + 1e-6).sqrt().recip();
                (0..k).map(|d| A.at(row + d) * scale * C.at(d) * B.at(d * n + column)).sum()
            };
            Ok(prepared(output, k, move |y| norm_product::launch_into(&x, &gamma, &w, y), expected))
        })
    })
}

/// The weights of an encoder layer, small enough that six layers stay finite in `f16`.
struct Layer<T: Real> {
    square: [Tensor2<T>; 4],
    up: Tensor2<T>,
    down: Tensor2<T>,
    row: Tensor1<T>,
    hidden: Tensor1<T>,
}

impl<T: Real> Layer<T> {
    fn new(device: &Device) -> Result<Self, Error> {
        let (width, hidden) = (encoder::WIDTH, encoder::HIDDEN);
        let matrix = |rows: usize, columns: usize| {
            let values = (0..rows * columns).map(|i| T::from_f32((B.at(i) / 16.0) as f32)).collect();
            Tensor2::from_vec(device, values, [rows, columns])
        };
        let square = [matrix(width, width)?, matrix(width, width)?, matrix(width, width)?, matrix(width, width)?];
        Ok(Self {
            square,
            up: matrix(hidden, width)?,
            down: matrix(width, hidden)?,
            row: upload(device, C, [width])?,
            hidden: upload(device, D, [hidden])?,
        })
    }

    fn run(&self, h: &Tensor3<T>, lengths: &Tensor1<i32>) -> Result<Tensor3<T>, Error> {
        let ([wq, wk, wv, wo], b) = (&self.square, &self.row);
        encoder::encoder_layer(
            h,
            lengths,
            wq,
            b,
            wk,
            b,
            wv,
            b,
            wo,
            b,
            b,
            b,
            &self.up,
            &self.hidden,
            &self.down,
            b,
            b,
            b,
        )
    }
}

/// Six encoder layers of all-MiniLM-L6-v2 over a batch of padded texts. Only that results are numbers is checked here:
/// `tests/minilm.rs` compares them.
fn layers<T: Real>([texts, length]: [usize; 2]) -> Case {
    let (width, hidden, tokens) = (encoder::WIDTH, encoder::HIDDEN, texts * length);
    let per_token = 2 * (4 * width * width + 2 * width * hidden) + 4 * length * width;
    let work = [6.0 * (tokens * per_token) as f64, 0.0];
    let mut case =
        case::<T>("MiniLM, 6 layers", format!("{texts}x{length}"), work, || encoder::encoder_layer::function::<T>(), {
            Box::new(move |device| {
                let layer = Layer::<T>::new(device)?;
                let h = upload::<T, 3>(device, A, [texts, length, width])?;
                let lengths = Tensor1::from_vec(device, vec![length as i32; texts], [texts])?;
                let run =
                    std::rc::Rc::new(move || (1..6).try_fold(layer.run(&h, &lengths)?, |h, _| layer.run(&h, &lengths)));
                let again = run.clone();
                let error = move || {
                    let values = again()?.to_vec_blocking()?;
                    Ok(if values.iter().all(|&x| Into::<f64>::into(x).is_finite()) { 0.0 } else { f64::NAN })
                };
                Ok(Prepared { launch: Box::new(move || run().map(drop)), error: Box::new(error) })
            })
        });
    case.tokens = tokens as f64;
    case
}
