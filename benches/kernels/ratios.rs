//! Fused against unfused functions: expressions of this project's source documents, and blocks of models.
//!
//! The unfused function has the same source with a kernel per operation (`#[no_fuse]`), the same schedule families, and
//! intermediate tensors from the same pool.

use fuse_bench_results::results::Key;
use fuse_gpu::{Device, Error, artifact::Function, fuse};

use crate::{
    block_formulas::{self, NORMED},
    blocks::{attention, attention_size, causal, gate_up, norm_gelu, norm_product, product_norm, row_softmax},
    cases::{dtype, extents, gelu_linear, linear, power_of_two, relu_sum, scaled_sum, sigmoid_product},
    data::Real,
    formulas::{self, Formula, Prepared},
};

fuse! {
    pub fn relu_product<T: Float>(x: T[M, K], w: T[K, N]) -> T[M, N] {
        relu(matmul(x, w))
    }

    #[no_fuse]
    pub fn relu_product_unfused<T: Float>(x: T[M, K], w: T[K, N]) -> T[M, N] {
        relu(matmul(x, w))
    }

    #[no_fuse]
    pub fn linear_unfused<T: Float>(x: T[M, K], w: T[K, N], b: T[N], r: T[M, N]) -> T[M, N] {
        relu(matmul(x, w) + b + r)
    }

    #[no_fuse]
    pub fn gelu_linear_unfused<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        matmul(gelu(x), w) + b
    }

    #[no_fuse]
    pub fn scaled_sum_unfused<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        (a + b) * c
    }

    #[no_fuse]
    pub fn relu_sum_unfused<T: Float>(a: T[N], b: T[N]) -> T[N] {
        relu(a + b)
    }

    #[no_fuse]
    pub fn sigmoid_product_unfused<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        sigmoid(a * b + c)
    }

    #[no_fuse]
    pub fn row_softmax_unfused<T: Float>(x: T[M, N]) -> T[M, N] {
        softmax(x)
    }

    #[no_fuse]
    pub fn norm_gelu_unfused<T: Float>(x: T[M, N], gamma: T[N], beta: T[N]) -> T[M, N] {
        gelu(layer_norm(x, gamma, beta))
    }

    #[no_fuse]
    pub fn attention_unfused<T: Float>(q: T[H, S, 64], k: T[H, L, 64], v: T[H, L, 64]) -> T[H, S, 64] {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    }

    #[no_fuse]
    pub fn causal_unfused<T: Float>(q: T[H, S, 64], k: T[H, S, 64], v: T[H, S, 64]) -> T[H, S, 64] {
        let scores = matmul(q, transpose(k)) * 0.125;
        matmul(softmax(select(index(scores, axis = 2) <= index(scores, axis = 1), scores, -inf)), v)
    }

    #[no_fuse]
    pub fn gate_up_unfused<T: Float>(x: T[M, K], g: T[K, N], u: T[K, N]) -> T[M, N] {
        silu(matmul(x, g)) * matmul(x, u)
    }

    #[no_fuse]
    pub fn norm_product_unfused<T: Float>(x: T[M, K], gamma: T[K], w: T[K, N]) -> T[M, N] {
        matmul(rms_norm(x, gamma), w)
    }

    #[no_fuse]
    pub fn product_norm_unfused<T: Float>(
        x: T[M, K],
        w: T[K, 384],
        r: T[M, 384],
        gamma: T[384],
        beta: T[384],
    ) -> T[M, 384] {
        layer_norm(matmul(x, w) + r, gamma, beta)
    }
}

/// Cases lack this prefix.
const GROUP: &str = "fused/";

pub(crate) struct Pair {
    /// Formula, without its dtype.
    pub(crate) formula: &'static str,
    pub(crate) size: String,
    /// Elements of a chain, or extent of a square product; blocks have none and are in no plot over sizes.
    pub(crate) extent: Option<usize>,
    pub(crate) product: bool,
    pub(crate) f16: bool,
    pub(crate) functions: [&'static Function; 2],
    pub(crate) shapes: Vec<Vec<usize>>,
    pub(crate) prepare: PreparePair,
}

impl Pair {
    pub(crate) fn name(&self) -> String {
        format!("{GROUP}{} {}", self.formula, dtype(self.f16))
    }

    pub(crate) fn key(&self) -> Key<'_> {
        Key { case: self.formula, dtype: dtype(self.f16), size: &self.size }
    }
}

pub(crate) type PreparePair = Box<dyn Fn(&Device) -> Result<[Prepared; 2], Error>>;

pub(crate) struct Extents {
    pub(crate) pointwise: &'static [usize],
    pub(crate) products: &'static [usize],
    /// Normalized rows: rows and columns.
    rows: &'static [[usize; 2]],
    /// Attentions: heads, queries, keys.
    attention: &'static [[usize; 3]],
    /// Causal attentions: heads, length.
    causal: &'static [[usize; 2]],
    /// Gated products: rows, columns, depth.
    gated: &'static [[usize; 3]],
    /// Products of normalized rows: rows, columns, depth.
    operands: &'static [[usize; 3]],
    /// Normalized products of [`NORMED`] columns: rows and depth.
    normed: &'static [[usize; 2]],
}

impl Extents {
    /// From sizes dominated by launch cost to sizes where it is negligible.
    pub(crate) const FULL: Self = Self {
        pointwise: &[1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 26],
        products: &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192],
        rows: &[[16, 16], [64, 64], [256, 256], [1024, 1024], [4096, 4096], [8192, 8192], [1, 65536], [16384, 64]],
        attention: &[[32, 16, 16], [32, 128, 128], [32, 1024, 1024], [32, 1, 8192], [8, 4096, 4096]],
        causal: &[[32, 128], [32, 1024]],
        gated: &[
            [1, 4096, 4096],
            [16, 16, 16],
            [128, 128, 128],
            [512, 512, 512],
            [2048, 2048, 2048],
            [4096, 4096, 4096],
        ],
        operands: &[
            [1, 4096, 4096],
            [16, 16, 16],
            [128, 128, 128],
            [512, 512, 512],
            [2048, 2048, 2048],
            [4096, 4096, 4096],
        ],
        normed: &[[1, 384], [16, 384], [128, 384], [128, 1536], [4096, 384], [4096, 1536]],
    };

    pub(crate) const QUICK: Self = Self {
        pointwise: &[1 << 16, 1 << 20],
        products: &[16, 64, 128],
        rows: &[[64, 256]],
        attention: &[[2, 64, 64]],
        causal: &[[2, 64]],
        gated: &[[16, 64, 64]],
        operands: &[[16, 64, 64]],
        normed: &[[16, 64]],
    };
}

pub(crate) fn all(extents: &Extents) -> Vec<Pair> {
    let mut pairs = vec![];
    for &n in extents.products {
        pairs.extend(products::<f32>(n));
    }
    for &n in extents.products {
        pairs.extend(products::<fuse_gpu::f16>(n));
    }
    for &n in extents.pointwise {
        pairs.extend(pointwise::<f32>(n));
    }
    for &n in extents.pointwise {
        pairs.extend(pointwise::<fuse_gpu::f16>(n));
    }
    pairs.extend(blocks::<f32>(extents));
    pairs.extend(blocks::<fuse_gpu::f16>(extents));
    pairs
}

/// Each function has its own tensor; expected values are shared.
fn pair<L: Copy + 'static>(
    formula: Formula<L>,
    size: String,
    functions: [&'static Function; 2],
    launches: [L; 2],
) -> Pair {
    let Formula { name, f16, operands, upload, .. } = formula;
    Pair {
        formula: name,
        size,
        extent: None,
        product: true,
        f16,
        functions,
        shapes: operands,
        prepare: Box::new(move |device| {
            let uploaded = upload(device)?;
            Ok([uploaded(launches[0])?, uploaded(launches[1])?])
        }),
    }
}

fn products<T: Real>(n: usize) -> [Pair; 3] {
    let square = [n, n, n];
    [
        pair(
            formulas::relu_product::<T>(square),
            extents(square),
            [relu_product::function::<T>(), relu_product_unfused::function::<T>()],
            [relu_product::launch_into, relu_product_unfused::launch_into],
        ),
        pair(
            formulas::linear::<T>(square),
            extents(square),
            [linear::function::<T>(), linear_unfused::function::<T>()],
            [linear::launch_into, linear_unfused::launch_into],
        ),
        pair(
            formulas::gelu_linear::<T>(square),
            extents(square),
            [gelu_linear::function::<T>(), gelu_linear_unfused::function::<T>()],
            [gelu_linear::launch_into, gelu_linear_unfused::launch_into],
        ),
    ]
    .map(|pair| Pair { extent: Some(n), ..pair })
}

fn pointwise<T: Real>(n: usize) -> [Pair; 3] {
    [
        pair(
            formulas::scaled_sum::<T>(n),
            power_of_two(n),
            [scaled_sum::function::<T>(), scaled_sum_unfused::function::<T>()],
            [scaled_sum::launch_into, scaled_sum_unfused::launch_into],
        ),
        pair(
            formulas::relu_sum::<T>(n),
            power_of_two(n),
            [relu_sum::function::<T>(), relu_sum_unfused::function::<T>()],
            [relu_sum::launch_into, relu_sum_unfused::launch_into],
        ),
        pair(
            formulas::sigmoid_product::<T>(n),
            power_of_two(n),
            [sigmoid_product::function::<T>(), sigmoid_product_unfused::function::<T>()],
            [sigmoid_product::launch_into, sigmoid_product_unfused::launch_into],
        ),
    ]
    .map(|pair| Pair { extent: Some(n), product: false, ..pair })
}

fn blocks<T: Real>(sizes: &Extents) -> Vec<Pair> {
    let rows = sizes.rows.iter().flat_map(|&[m, n]| {
        [
            pair(
                block_formulas::softmax::<T>([m, n]),
                format!("{m}x{n}"),
                [row_softmax::function::<T>(), row_softmax_unfused::function::<T>()],
                [row_softmax::launch_into, row_softmax_unfused::launch_into],
            ),
            pair(
                block_formulas::norm::<T>([m, n]),
                format!("{m}x{n}"),
                [norm_gelu::function::<T>(), norm_gelu_unfused::function::<T>()],
                [norm_gelu::launch_into, norm_gelu_unfused::launch_into],
            ),
        ]
        .map(|pair| Pair { product: false, ..pair })
    });
    let attention = sizes.attention.iter().map(|&shape| {
        pair(
            block_formulas::attention::<T>(shape),
            attention_size(shape),
            [attention::function::<T>(), attention_unfused::function::<T>()],
            [attention::launch_into, attention_unfused::launch_into],
        )
    });
    let causal = sizes.causal.iter().map(|&[heads, length]| {
        pair(
            block_formulas::causal::<T>([heads, length]),
            attention_size([heads, length, length]),
            [causal::function::<T>(), causal_unfused::function::<T>()],
            [causal::launch_into, causal_unfused::launch_into],
        )
    });
    let gated = sizes.gated.iter().map(|&shape| {
        pair(
            block_formulas::gated::<T>(shape),
            extents(shape),
            [gate_up::function::<T>(), gate_up_unfused::function::<T>()],
            [gate_up::launch_into, gate_up_unfused::launch_into],
        )
    });
    let operands = sizes.operands.iter().map(|&shape| {
        pair(
            block_formulas::norm_product::<T>(shape),
            extents(shape),
            [norm_product::function::<T>(), norm_product_unfused::function::<T>()],
            [norm_product::launch_into, norm_product_unfused::launch_into],
        )
    });
    let normed = sizes.normed.iter().map(|&[m, k]| {
        pair(
            block_formulas::product_norm::<T>([m, k]),
            extents([m, NORMED, k]),
            [product_norm::function::<T>(), product_norm_unfused::function::<T>()],
            [product_norm::launch_into, product_norm_unfused::launch_into],
        )
    });
    rows.chain(attention).chain(causal).chain(gated).chain(operands).chain(normed).collect()
}
