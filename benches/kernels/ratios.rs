//! Fused against unfused: what fusion gains, for the expressions of the documents that this project set out to pass.
//!
//! The unfused function is the same text with a kernel per operation (`#[no_fuse]`): its kernels have the same families
//! of schedules, and its intermediate tensors come from the same pool.

use fuse_bench_results::results::Key;
use fuse_gpu::{Device, Error, artifact::Function, fuse};

use crate::{
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
}

/// What the names of all pairs start with, which tells them from cases.
const GROUP: &str = "fused/";

/// An expression at one size, as one function and as one whose operations are kernels of their own.
pub(crate) struct Pair {
    /// The formula, without its dtype.
    pub(crate) formula: &'static str,
    /// The size: elements, or rows, columns and depth of the product.
    pub(crate) size: String,
    /// Elements of a pointwise chain, or the extent of a square product.
    pub(crate) extent: usize,
    /// Whether it multiplies matrices.
    pub(crate) product: bool,
    /// Whether it needs 16-bit floats.
    pub(crate) f16: bool,
    /// Fused and unfused.
    pub(crate) functions: [&'static Function; 2],
    /// Shapes of the operands.
    pub(crate) shapes: Vec<Vec<usize>>,
    /// Uploads operands, for both.
    pub(crate) prepare: PreparePair,
}

impl Pair {
    /// The formula with its dtype, in the group of pairs.
    pub(crate) fn name(&self) -> String {
        format!("{GROUP}{} {}", self.formula, dtype(self.f16))
    }

    /// What tells it from others.
    pub(crate) fn key(&self) -> Key<'_> {
        Key { case: self.formula, dtype: dtype(self.f16), size: &self.size }
    }
}

/// Uploads the operands of a pair: fused and unfused.
pub(crate) type PreparePair = Box<dyn Fn(&Device) -> Result<[Prepared; 2], Error>>;

/// The sizes of a run.
pub(crate) struct Extents {
    /// Elements of pointwise chains.
    pub(crate) pointwise: &'static [usize],
    /// Extents of square products.
    pub(crate) products: &'static [usize],
}

impl Extents {
    /// For GPUs: from where launches are all that counts to where they count nothing.
    pub(crate) const FULL: Self = Self {
        pointwise: &[1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 26],
        products: &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192],
    };

    /// For software drivers.
    pub(crate) const QUICK: Self = Self { pointwise: &[1 << 16, 1 << 20], products: &[16, 64, 128] };
}

/// Every pair, in the order of the report.
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
    pairs
}

/// A formula, launched by a fused and an unfused function. Both write into tensors of their own, which must hold the same.
fn pair<L: Copy + 'static>(
    formula: Formula<L>,
    [extent, rank]: [usize; 2],
    functions: [&'static Function; 2],
    launches: [L; 2],
) -> Pair {
    let Formula { name, f16, operands, upload, .. } = formula;
    let product = rank == 2;
    Pair {
        formula: name,
        size: if product { extents([extent; 3]) } else { power_of_two(extent) },
        extent,
        product,
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
            [n, 2],
            [relu_product::function::<T>(), relu_product_unfused::function::<T>()],
            [relu_product::launch_into, relu_product_unfused::launch_into],
        ),
        pair(
            formulas::linear::<T>(square),
            [n, 2],
            [linear::function::<T>(), linear_unfused::function::<T>()],
            [linear::launch_into, linear_unfused::launch_into],
        ),
        pair(
            formulas::gelu_linear::<T>(square),
            [n, 2],
            [gelu_linear::function::<T>(), gelu_linear_unfused::function::<T>()],
            [gelu_linear::launch_into, gelu_linear_unfused::launch_into],
        ),
    ]
}

fn pointwise<T: Real>(n: usize) -> [Pair; 3] {
    [
        pair(
            formulas::scaled_sum::<T>(n),
            [n, 1],
            [scaled_sum::function::<T>(), scaled_sum_unfused::function::<T>()],
            [scaled_sum::launch_into, scaled_sum_unfused::launch_into],
        ),
        pair(
            formulas::relu_sum::<T>(n),
            [n, 1],
            [relu_sum::function::<T>(), relu_sum_unfused::function::<T>()],
            [relu_sum::launch_into, relu_sum_unfused::launch_into],
        ),
        pair(
            formulas::sigmoid_product::<T>(n),
            [n, 1],
            [sigmoid_product::function::<T>(), sigmoid_product_unfused::function::<T>()],
            [sigmoid_product::launch_into, sigmoid_product_unfused::launch_into],
        ),
    ]
}
