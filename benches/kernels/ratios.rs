//! Fused against unfused: what fusion gains, for the expressions of the documents that this project set out to pass.
//!
//! The unfused function is the same text with a kernel per operation (`#[no_fuse]`): its kernels have the same families
//! of schedules, and its intermediate tensors come from the same pool.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, artifact::Function, fuse};

use crate::{
    cases::{
        A, B, C, D, Prepared, gelu_linear, linear, power_of_two, prepared, relu_sum, scaled_sum, sigmoid_product,
        upload,
    },
    data::{Real, gelu},
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

/// The parts of a pair that its size and dtype do not decide.
struct Expression {
    formula: &'static str,
    source: Option<f64>,
    functions: [&'static Function; 2],
    shapes: Vec<Vec<usize>>,
    prepare: PreparePair,
}

fn pair<T: Real>(extent: usize, product: bool, expression: Expression) -> Pair {
    let Expression { formula, source, functions, shapes, prepare } = expression;
    let f16 = T::DTYPE.bytes() == 2;
    Pair {
        name: format!("{GROUP}{formula} {}", if f16 { "f16" } else { "f32" }),
        size: if product { format!("{extent}x{extent}x{extent}") } else { power_of_two(extent) },
        extent,
        product,
        f16,
        // The documents measured f32.
        source: source.filter(|_| !f16),
        functions,
        shapes,
        prepare,
    }
}

/// Launches of both functions into tensors of their own, which must hold the same.
fn both<T: Real, const R: usize>(
    device: &Device,
    shape: [usize; R],
    depth: usize,
    fused: impl Fn(&mut Tensor<T, R>) -> Result<(), Error> + 'static,
    unfused: impl Fn(&mut Tensor<T, R>) -> Result<(), Error> + 'static,
    expected: impl Fn(usize) -> f64 + Copy + 'static,
) -> Result<[Prepared; 2], Error> {
    Ok([
        prepared(Tensor::zeros(device, shape)?, depth, fused, expected),
        prepared(Tensor::zeros(device, shape)?, depth, unfused, expected),
    ])
}

fn products<T: Real>(n: usize) -> [Pair; 3] {
    let dot = move |i: usize, f: fn(f64) -> f64| A.dot(B, (0..n).map(|d| (i / n * n + d, d * n + i % n)), f);
    let operands = move |device: &Device| -> Result<(Tensor2<T>, Tensor2<T>), Error> {
        Ok((upload(device, A, [n, n])?, upload(device, B, [n, n])?))
    };
    let (matrix, row) = (vec![n, n], vec![n]);
    let relu_product = Expression {
        formula: "relu(matmul)",
        source: Some(sources::RELU_PRODUCT),
        functions: [relu_product::function::<T>(), relu_product_unfused::function::<T>()],
        shapes: vec![matrix.clone(), matrix.clone()],
        prepare: Box::new(move |device| {
            let (x, w) = operands(device)?;
            let (xs, ws) = (x.clone(), w.clone());
            let fused = move |y: &mut _| relu_product::launch_into(&x, &w, y);
            let unfused = move |y: &mut _| relu_product_unfused::launch_into(&xs, &ws, y);
            both(device, [n, n], n, fused, unfused, move |i| dot(i, |x| x).max(0.0))
        }),
    };
    let linear = Expression {
        formula: "relu(matmul + b + r)",
        source: sources::linear(n),
        functions: [linear::function::<T>(), linear_unfused::function::<T>()],
        shapes: vec![matrix.clone(), matrix.clone(), row.clone(), matrix.clone()],
        prepare: Box::new(move |device| {
            let (x, w) = operands(device)?;
            let (b, r): (Tensor1<T>, Tensor2<T>) = (upload(device, C, [n])?, upload(device, D, [n, n])?);
            let (xs, ws, bs, rs) = (x.clone(), w.clone(), b.clone(), r.clone());
            let fused = move |y: &mut _| linear::launch_into(&x, &w, &b, &r, y);
            let unfused = move |y: &mut _| linear_unfused::launch_into(&xs, &ws, &bs, &rs, y);
            let expected = move |i: usize| (dot(i, |x| x) + C.at(i % n) + D.at(i)).max(0.0);
            both(device, [n, n], n, fused, unfused, expected)
        }),
    };
    let gelu_linear = Expression {
        formula: "matmul(gelu(x)) + b",
        source: sources::gelu_linear(n),
        functions: [gelu_linear::function::<T>(), gelu_linear_unfused::function::<T>()],
        shapes: vec![matrix.clone(), matrix, row],
        prepare: Box::new(move |device| {
            let (x, w) = operands(device)?;
            let b: Tensor1<T> = upload(device, C, [n])?;
            let (xs, ws, bs) = (x.clone(), w.clone(), b.clone());
            let fused = move |y: &mut _| gelu_linear::launch_into(&x, &w, &b, y);
            let unfused = move |y: &mut _| gelu_linear_unfused::launch_into(&xs, &ws, &bs, y);
            both(device, [n, n], n, fused, unfused, move |i| dot(i, gelu) + C.at(i % n))
        }),
    };
    [relu_product, linear, gelu_linear].map(|expression| pair::<T>(n, true, expression))
}

fn pointwise<T: Real>(n: usize) -> [Pair; 3] {
    let operand = move |device: &Device, values| -> Result<Tensor1<T>, Error> { upload(device, values, [n]) };
    let scaled_sum = Expression {
        formula: "(a + b) * c",
        source: Some(sources::SCALED_SUM),
        functions: [scaled_sum::function::<T>(), scaled_sum_unfused::function::<T>()],
        shapes: vec![vec![n]; 3],
        prepare: Box::new(move |device| {
            let (a, b, c) = (operand(device, A)?, operand(device, B)?, operand(device, C)?);
            let (a2, b2, c2) = (a.clone(), b.clone(), c.clone());
            let fused = move |y: &mut _| scaled_sum::launch_into(&a, &b, &c, y);
            let unfused = move |y: &mut _| scaled_sum_unfused::launch_into(&a2, &b2, &c2, y);
            both(device, [n], 0, fused, unfused, |i| (A.at(i) + B.at(i)) * C.at(i))
        }),
    };
    let relu_sum = Expression {
        formula: "relu(a + b)",
        source: Some(sources::RELU_SUM),
        functions: [relu_sum::function::<T>(), relu_sum_unfused::function::<T>()],
        shapes: vec![vec![n]; 2],
        prepare: Box::new(move |device| {
            let (a, b) = (operand(device, A)?, operand(device, B)?);
            let (a2, b2) = (a.clone(), b.clone());
            let fused = move |y: &mut _| relu_sum::launch_into(&a, &b, y);
            let unfused = move |y: &mut _| relu_sum_unfused::launch_into(&a2, &b2, y);
            both(device, [n], 0, fused, unfused, |i| (A.at(i) + B.at(i)).max(0.0))
        }),
    };
    let sigmoid_product = Expression {
        formula: "sigmoid(a * b + c)",
        source: Some(sources::SIGMOID_PRODUCT),
        functions: [sigmoid_product::function::<T>(), sigmoid_product_unfused::function::<T>()],
        shapes: vec![vec![n]; 3],
        prepare: Box::new(move |device| {
            let (a, b, c) = (operand(device, A)?, operand(device, B)?, operand(device, C)?);
            let (a2, b2, c2) = (a.clone(), b.clone(), c.clone());
            let fused = move |y: &mut _| sigmoid_product::launch_into(&a, &b, &c, y);
            let unfused = move |y: &mut _| sigmoid_product_unfused::launch_into(&a2, &b2, &c2, y);
            both(device, [n], 0, fused, unfused, |i| 1.0 / (1.0 + (-(A.at(i) * B.at(i) + C.at(i))).exp()))
        }),
    };
    [scaled_sum, relu_sum, sigmoid_product].map(|expression| pair::<T>(n, false, expression))
}
