//! Cases: kernels and sizes measured alone. `formulas` has those compared with unfused functions, `blocks` larger ones.

use fuse_bench_results::results::Key;
use fuse_gpu::{Device, Error, artifact::Function, fuse};

use crate::{
    data::Real,
    formulas::{self, Formula, Prepared},
};

fuse! {
    pub fn copy(a: f32[N]) -> f32[N] {
        a
    }

    pub fn scaled_sum<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        (a + b) * c
    }

    pub fn relu_sum<T: Float>(a: T[N], b: T[N]) -> T[N] {
        relu(a + b)
    }

    pub fn sigmoid_product<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        sigmoid(a * b + c)
    }

    pub fn product<T: Float>(x: T[M, K], w: T[K, N]) -> T[M, N] {
        matmul(x, w)
    }

    pub fn product_transposed<T: Float>(x: T[M, K], w: T[N, K]) -> T[M, N] {
        matmul(x, transpose(w))
    }

    pub fn linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N], r: T[M, N]) -> T[M, N] {
        relu(matmul(x, w) + b + r)
    }

    pub fn gelu_linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        matmul(gelu(x), w) + b
    }
}

pub(crate) struct Case {
    pub(crate) formula: &'static str,
    pub(crate) f16: bool,
    /// Elements, or M, N and K.
    pub(crate) size: String,
    /// Two per element and depth of a contraction; otherwise one per operation or function and element.
    pub(crate) flops: f64,
    /// Operands and results; 0 for launches of several kernels.
    pub(crate) bytes: f64,
    pub(crate) tokens: f64,
    pub(crate) function: fn() -> &'static Function,
    pub(crate) prepare: Prepare,
}

pub(crate) type Prepare = Box<dyn Fn(&Device) -> Result<Prepared, Error>>;

pub(crate) fn dtype(f16: bool) -> &'static str {
    if f16 { "f16" } else { "f32" }
}

impl Case {
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.formula, dtype(self.f16))
    }

    pub(crate) fn key(&self) -> Key<'_> {
        Key { case: self.formula, dtype: dtype(self.f16), size: &self.size }
    }

    pub(crate) fn of<L: Copy + 'static>(
        formula: Formula<L>,
        size: String,
        function: fn() -> &'static Function,
        launch: L,
    ) -> Self {
        let (bytes, Formula { name, f16, flops, upload, .. }) = (formula.bytes(), formula);
        let prepare = Box::new(move |device: &Device| upload(device)?(launch));
        Self { formula: name, f16, size, flops, bytes, tokens: 0.0, function, prepare }
    }
}

pub(crate) struct Sizes {
    pub(crate) pointwise: &'static [usize],
    squares: &'static [usize],
    /// Other contractions: M, N, K.
    shapes: &'static [[usize; 3]],
    /// Normalized rows: rows and columns.
    pub(crate) rows: &'static [[usize; 2]],
    /// Square matrices, summed by columns or completely.
    pub(crate) sums: &'static [usize],
    /// Heads and length of attentions.
    pub(crate) attention: &'static [[usize; 2]],
    /// Cross-attentions: heads, queries, keys.
    pub(crate) crossed: &'static [[usize; 3]],
    /// Windowed causal attentions: heads, length.
    pub(crate) windows: &'static [[usize; 2]],
    /// Similarities of M with N rows of depth K.
    pub(crate) cosines: &'static [[usize; 3]],
    /// Gated products: M, N, K.
    pub(crate) gated: &'static [[usize; 3]],
    /// Products of normalized rows.
    pub(crate) operands: &'static [[usize; 3]],
    /// Normalized products of 384 columns: M and K.
    pub(crate) normed: &'static [[usize; 2]],
    /// Texts, and tokens per text.
    pub(crate) texts: &'static [[usize; 2]],
    /// Products with quantized weights.
    pub(crate) weights: &'static [[usize; 3]],
    /// Layer norm gradients: rows, columns.
    pub(crate) norm_gradients: &'static [[usize; 2]],
    /// Attention gradients: heads, length.
    pub(crate) attention_gradients: &'static [[usize; 2]],
    /// Embedding gradients: table rows, columns, ids.
    pub(crate) embeddings: &'static [[usize; 3]],
    /// Networks in training: inputs, two hidden widths, classes, batch.
    pub(crate) networks: &'static [[usize; 5]],
    /// Divisors of the leading extents of numerical and data programs.
    data: &'static [usize],
}

impl Sizes {
    pub(crate) const fn full() -> Self {
        Self {
            pointwise: &[1 << 20, 1 << 24, 1 << 26],
            squares: &[128, 256, 512, 1024, 2048, 4096, 8192],
            shapes: &[
                [1, 4096, 4096],
                [2, 4096, 4096],
                [4, 4096, 4096],
                [8, 4096, 4096],
                [32, 4096, 4096],
                [512, 4096, 4096],
                [4096, 64, 4096],
                [64, 64, 16384],
            ],
            rows: &[[4096, 4096]],
            sums: &[4096],
            attention: &[[32, 1024]],
            crossed: &[[16, 1500, 77], [24, 2048, 77]],
            windows: &[[16, 1500], [24, 2048]],
            cosines: &[[1000, 5000, 384]],
            gated: &[[512, 1536, 512], [2048, 4096, 1024]],
            operands: &[[1, 4096, 4096], [128, 1024, 1024], [2048, 4096, 1024]],
            normed: &[[128, 384], [128, 1536], [4096, 384], [4096, 1536]],
            texts: &[[1, 128], [32, 128], [128, 128]],
            norm_gradients: &[[4096, 4096]],
            attention_gradients: &[[32, 1024], [4, 16384]],
            embeddings: &[[30522, 384, 4096]],
            networks: &[[784, 1024, 1024, 10, 128]],
            data: &[1],
            weights: &[[1, 4096, 4096], [4, 4096, 4096], [8, 4096, 4096], [1, 8192, 8192], [512, 4096, 4096]],
        }
    }

    /// For plots over sizes.
    pub(crate) const fn sweep() -> Self {
        Self {
            pointwise: &[1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26],
            squares: &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192],
            rows: &[[4096, 64], [4096, 256], [4096, 1024], [4096, 4096], [4096, 16384]],
            attention: &[[32, 128], [32, 256], [32, 512], [32, 1024], [32, 2048], [32, 4096], [32, 8192]],
            ..Self::NONE
        }
    }

    /// For plots on software drivers.
    pub(crate) const fn quick_sweep() -> Self {
        Self {
            pointwise: &[1 << 8, 1 << 12, 1 << 16, 1 << 20],
            squares: &[16, 32, 64, 128],
            rows: &[[64, 64], [64, 256], [64, 1024], [64, 4096]],
            attention: &[[2, 16], [2, 32], [2, 64], [2, 128]],
            ..Self::NONE
        }
    }

    const NONE: Self = Self {
        pointwise: &[],
        squares: &[],
        shapes: &[],
        rows: &[],
        sums: &[],
        attention: &[],
        crossed: &[],
        windows: &[],
        cosines: &[],
        gated: &[],
        operands: &[],
        normed: &[],
        texts: &[],
        weights: &[],
        norm_gradients: &[],
        attention_gradients: &[],
        embeddings: &[],
        networks: &[],
        data: &[],
    };

    pub(crate) const fn quick() -> Self {
        Self {
            pointwise: &[1 << 16, 1 << 20],
            squares: &[64, 256],
            shapes: &[[1, 512, 512], [16, 16, 2048]],
            rows: &[[256, 256]],
            sums: &[256],
            attention: &[[2, 128]],
            crossed: &[[2, 64, 77]],
            windows: &[[1, 300]],
            cosines: &[[50, 60, 64]],
            gated: &[[64, 64, 64]],
            operands: &[[16, 64, 64]],
            normed: &[[16, 64]],
            texts: &[[1, 16]],
            weights: &[[1, 64, 128]],
            norm_gradients: &[[60, 256]],
            attention_gradients: &[[2, 100]],
            embeddings: &[[500, 24, 70]],
            networks: &[[20, 32, 24, 10, 16]],
            data: &[60],
        }
    }
}

/// `1048576` as `2^20`.
pub(crate) fn power_of_two(elements: usize) -> String {
    format!("2^{}", elements.ilog2())
}

pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    let mut cases = vec![];
    for &n in sizes.pointwise {
        cases.extend(pointwise(n));
    }
    let squares = sizes.squares.iter().map(|&n| [n, n, n]);
    for shape in squares.clone() {
        cases.extend(linear_algebra::<f32>(shape));
    }
    for shape in squares {
        cases.extend(linear_algebra::<fuse_gpu::f16>(shape));
    }
    for &shape in sizes.shapes {
        cases.extend(products::<f32>(shape));
        cases.extend(products::<fuse_gpu::f16>(shape));
    }
    cases.extend(crate::blocks::all(sizes));
    cases.extend(crate::quantized::all(sizes));
    cases.extend(crate::gradients::all(sizes));
    cases.extend(sizes.data.iter().flat_map(|&divisor| crate::data_programs::all(divisor)));
    cases
}

fn pointwise(n: usize) -> [Case; 4] {
    type T = f32;
    let size = || power_of_two(n);
    let function = || scaled_sum::function::<T>();
    let scaled_sum = Case::of(formulas::scaled_sum::<T>(n), size(), function, scaled_sum::launch_into);
    let function = || relu_sum::function::<T>();
    let relu_sum = Case::of(formulas::relu_sum::<T>(n), size(), function, relu_sum::launch_into);
    let function = || sigmoid_product::function::<T>();
    let sigmoid_product = Case::of(formulas::sigmoid_product::<T>(n), size(), function, sigmoid_product::launch_into);
    [
        Case::of(formulas::copy::<T>(n), size(), || &copy::FUNCTION, copy::launch_into),
        scaled_sum,
        relu_sum,
        sigmoid_product,
    ]
}

pub(crate) fn extents([m, n, k]: [usize; 3]) -> String {
    format!("{m}x{n}x{k}")
}

fn product_case<T: Real>(shape: [usize; 3]) -> Case {
    let function = || product::function::<T>();
    Case::of(formulas::product::<T>(shape), extents(shape), function, product::launch_into)
}

fn linear_algebra<T: Real>(shape: [usize; 3]) -> [Case; 3] {
    let function = || linear::function::<T>();
    let linear = Case::of(formulas::linear::<T>(shape), extents(shape), function, linear::launch_into);
    let function = || gelu_linear::function::<T>();
    let gelu = Case::of(formulas::gelu_linear::<T>(shape), extents(shape), function, gelu_linear::launch_into);
    [product_case::<T>(shape), linear, gelu]
}

fn products<T: Real>(shape: [usize; 3]) -> [Case; 2] {
    let function = || product_transposed::function::<T>();
    let formula = formulas::product_transposed::<T>(shape);
    [product_case::<T>(shape), Case::of(formula, extents(shape), function, product_transposed::launch_into)]
}
