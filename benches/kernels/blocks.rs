//! Cases of blocks: rows, norms, attention, gated and normalized products, encoder layers.

use fuse_gpu::{Device, Error, Tensor1, Tensor2, Tensor3, fuse};
use fuse_minilm_model::encoder;

use crate::{
    block_formulas::{self, HEAD, NORMED, WINDOW},
    cases::{Case, Sizes, extents},
    data::{A, B, C, D, Real},
    formulas::{Prepared, upload},
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

    pub fn windowed<T: Float>(q: T[H, S, 64], k: T[H, S, 64], v: T[H, S, 64]) -> T[H, S, 64] {
        let scores = matmul(q, transpose(k)) * 0.125;
        let back = index(scores, axis = 1) - index(scores, axis = 2);
        matmul(softmax(select(back >= 0 && back < 256, scores, -inf)), v)
    }

    pub fn cosine<T: Float>(x: T[M, K], y: T[N, K]) -> T[M, N] {
        let a = x * rsqrt(sum(x * x, axis = 1, keepdim = true));
        let b = y * rsqrt(sum(y * y, axis = 1, keepdim = true));
        matmul(a, transpose(b))
    }

    pub fn gate_up<T: Float>(x: T[M, K], g: T[K, N], u: T[K, N]) -> T[M, N] {
        silu(matmul(x, g)) * matmul(x, u)
    }

    pub fn norm_product<T: Float>(x: T[M, K], gamma: T[K], w: T[K, N]) -> T[M, N] {
        matmul(rms_norm(x, gamma), w)
    }

    pub fn product_norm<T: Float>(
        x: T[M, K],
        w: T[K, 384],
        r: T[M, 384],
        gamma: T[384],
        beta: T[384],
    ) -> T[M, 384] {
        layer_norm(matmul(x, w) + r, gamma, beta)
    }
}

pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    type H = fuse_gpu::f16;
    let mut cases = vec![];
    for &shape in sizes.rows {
        cases.extend([softmax::<f32>(shape), softmax::<H>(shape), norm::<f32>(shape), norm::<H>(shape)]);
    }
    for &n in sizes.sums {
        let columns = block_formulas::column_sum(n);
        cases.push(Case::of(columns, format!("{n}x{n}"), || &column_sum::FUNCTION, column_sum::launch_into));
        cases.push(total_case(n * n));
    }
    for &[heads, length] in sizes.attention {
        let shape = [heads, length, length];
        cases.extend([attention_case::<f32>(shape), attention_case::<H>(shape)]);
        cases.extend([causal_case::<f32>([heads, length]), causal_case::<H>([heads, length])]);
        cases.push(Case { formula: "attention, one query", ..attention_case::<f32>([heads, 1, 8 * length]) });
    }
    cases.extend(sizes.crossed.iter().flat_map(|&shape| [attention_case::<f32>(shape), attention_case::<H>(shape)]));
    cases.extend(sizes.windows.iter().flat_map(|&shape| [windowed_case::<f32>(shape), windowed_case::<H>(shape)]));
    cases.extend(sizes.cosines.iter().flat_map(|&shape| [cosine_case::<f32>(shape), cosine_case::<H>(shape)]));
    for &shape in sizes.gated {
        let (formula, function) = (block_formulas::gated::<f32>(shape), || gate_up::function::<f32>());
        cases.push(Case::of(formula, extents(shape), function, gate_up::launch_into));
    }
    for &shape in sizes.operands {
        let (formula, function) = (block_formulas::norm_product::<f32>(shape), || norm_product::function::<f32>());
        cases.push(Case::of(formula, extents(shape), function, norm_product::launch_into));
    }
    for &[m, k] in sizes.normed {
        let (formula, function) = (block_formulas::product_norm::<f32>([m, k]), || product_norm::function::<f32>());
        cases.push(Case::of(formula, extents([m, NORMED, k]), function, product_norm::launch_into));
    }
    cases.extend(sizes.texts.iter().flat_map(|&texts| [layers::<f32>(texts), layers::<H>(texts)]));
    cases
}

pub(crate) fn total_case(n: usize) -> Case {
    Case::of(block_formulas::total(n), n.to_string(), || &total::FUNCTION, total::launch_into)
}

pub(crate) fn softmax<T: Real>([m, n]: [usize; 2]) -> Case {
    let (formula, function) = (block_formulas::softmax::<T>([m, n]), || row_softmax::function::<T>());
    Case::of(formula, format!("{m}x{n}"), function, row_softmax::launch_into)
}

fn norm<T: Real>([m, n]: [usize; 2]) -> Case {
    let (formula, function) = (block_formulas::norm::<T>([m, n]), || norm_gelu::function::<T>());
    Case::of(formula, format!("{m}x{n}"), function, norm_gelu::launch_into)
}

pub(crate) fn attention_size([heads, queries, keys]: [usize; 3]) -> String {
    format!("{heads}x{queries}x{keys}x{HEAD}")
}

fn attention_case<T: Real>(shape: [usize; 3]) -> Case {
    let (formula, function) = (block_formulas::attention::<T>(shape), || attention::function::<T>());
    Case::of(formula, attention_size(shape), function, attention::launch_into)
}

fn causal_case<T: Real>([heads, length]: [usize; 2]) -> Case {
    let (formula, function) = (block_formulas::causal::<T>([heads, length]), || causal::function::<T>());
    Case::of(formula, attention_size([heads, length, length]), function, causal::launch_into)
}

fn windowed_case<T: Real>([heads, length]: [usize; 2]) -> Case {
    let (formula, function) = (block_formulas::windowed::<T>([heads, length]), || windowed::function::<T>());
    Case::of(formula, format!("{}, {WINDOW}", attention_size([heads, length, length])), function, windowed::launch_into)
}

fn cosine_case<T: Real>(shape: [usize; 3]) -> Case {
    let (formula, function) = (block_formulas::cosine::<T>(shape), || cosine::function::<T>());
    Case::of(formula, extents(shape), function, cosine::launch_into)
}

/// Weights small enough that six layers stay finite in `f16`.
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

/// Six encoder layers of all-MiniLM-L6-v2 over padded texts. Only finiteness is checked; `tests/programs/minilm.rs`
/// compares results.
fn layers<T: Real>([texts, length]: [usize; 2]) -> Case {
    let (width, hidden, tokens) = (encoder::WIDTH, encoder::HIDDEN, texts * length);
    let per_token = 2 * (4 * width * width + 2 * width * hidden) + 4 * length * width;
    Case {
        formula: "MiniLM, 6 layers",
        f16: T::DTYPE.bytes() == 2,
        size: format!("{texts}x{length}"),
        flops: 6.0 * (tokens * per_token) as f64,
        bytes: 0.0,
        tokens: tokens as f64,
        function: || encoder::encoder_layer::function::<T>(),
        prepare: Box::new(move |device| {
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
        }),
    }
}
