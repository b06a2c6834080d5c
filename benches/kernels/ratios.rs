//! Fused against unfused: what fusion gains, for the expressions of the documents that this project set out to pass.
//!
//! The unfused function is the same text with a kernel per operation (`#[no_fuse]`): its kernels have the same families
//! of schedules, and its intermediate tensors come from the same pool.

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

/// What the names of all pairs start with.
pub(crate) const GROUP: &str = "fused/";

/// An expression at one size, as one function and as one whose operations are kernels of their own.
pub(crate) struct Pair {
    /// The formula, with its dtype.
    pub(crate) name: String,
    /// The size: elements, or rows, columns and depth of the product.
    pub(crate) size: String,
    /// Elements of a pointwise chain, or the extent of a square product.
    pub(crate) extent: usize,
    /// Whether it multiplies matrices.
    pub(crate) product: bool,
    /// Whether it needs 16-bit floats.
    pub(crate) f16: bool,
    /// The ratio that a source document states for it.
    pub(crate) source: Option<f64>,
    /// Fused and unfused.
    pub(crate) functions: [&'static Function; 2],
    /// Shapes of the operands.
    pub(crate) shapes: Vec<Vec<usize>>,
    /// Uploads operands, for both.
    pub(crate) prepare: PreparePair,
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
        products: &[16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
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

/// What the source documents state for chains of any size, and for products of some: at 512 and 1024 the kernels that
/// they describe gained nothing.
mod sources {
    pub(super) const RELU_PRODUCT: f64 = 1.87;
    pub(super) const SCALED_SUM: f64 = 2.23;
    pub(super) const RELU_SUM: f64 = 2.13;
    pub(super) const SIGMOID_PRODUCT: f64 = 2.98;

    pub(super) fn linear(n: usize) -> Option<f64> {
        at(n, [3.30, 2.12, 1.01, 0.97])
    }

    pub(super) fn gelu_linear(n: usize) -> Option<f64> {
        at(n, [3.02, 2.12, 0.76, 0.39])
    }

    fn at(n: usize, ratios: [f64; 4]) -> Option<f64> {
        let index = [128, 256, 512, 1024].iter().position(|&size| size == n)?;
        Some(ratios[index])
    }
}

/// A formula, launched by a fused and an unfused function. Both write into tensors of their own, which must hold the same.
fn pair<L: Copy + 'static>(
    formula: Formula<L>,
    [extent, rank]: [usize; 2],
    source: Option<f64>,
    functions: [&'static Function; 2],
    launches: [L; 2],
) -> Pair {
    let Formula { name, f16, operands, upload, .. } = formula;
    let product = rank == 2;
    Pair {
        name: format!("{GROUP}{name} {}", dtype(f16)),
        size: if product { extents([extent; 3]) } else { power_of_two(extent) },
        extent,
        product,
        f16,
        // The documents measured f32.
        source: source.filter(|_| !f16),
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
            Some(sources::RELU_PRODUCT),
            [relu_product::function::<T>(), relu_product_unfused::function::<T>()],
            [relu_product::launch_into, relu_product_unfused::launch_into],
        ),
        pair(
            formulas::linear::<T>(square),
            [n, 2],
            sources::linear(n),
            [linear::function::<T>(), linear_unfused::function::<T>()],
            [linear::launch_into, linear_unfused::launch_into],
        ),
        pair(
            formulas::gelu_linear::<T>(square),
            [n, 2],
            sources::gelu_linear(n),
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
            Some(sources::SCALED_SUM),
            [scaled_sum::function::<T>(), scaled_sum_unfused::function::<T>()],
            [scaled_sum::launch_into, scaled_sum_unfused::launch_into],
        ),
        pair(
            formulas::relu_sum::<T>(n),
            [n, 1],
            Some(sources::RELU_SUM),
            [relu_sum::function::<T>(), relu_sum_unfused::function::<T>()],
            [relu_sum::launch_into, relu_sum_unfused::launch_into],
        ),
        pair(
            formulas::sigmoid_product::<T>(n),
            [n, 1],
            Some(sources::SIGMOID_PRODUCT),
            [sigmoid_product::function::<T>(), sigmoid_product_unfused::function::<T>()],
            [sigmoid_product::launch_into, sigmoid_product_unfused::launch_into],
        ),
    ]
}
