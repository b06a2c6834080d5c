//! What is measured: kernels, sizes, data, and what the results must be.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2, artifact::Function, fuse};

use crate::{
    Failure,
    data::{Real, Values, gelu, worst_error},
};

fuse! {
    /// The least work that a kernel can do.
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

/// A computation at one size.
pub(crate) struct Case {
    /// The formula, with its dtype.
    pub(crate) name: &'static str,
    /// The size: elements, or rows M, columns N and depth K of the contraction.
    pub(crate) size: String,
    /// Whether it needs 16-bit floats.
    pub(crate) f16: bool,
    /// Floating-point operations of its contraction; 0 without one.
    pub(crate) flops: f64,
    /// Bytes of its operands and results.
    pub(crate) bytes: f64,
    /// Tokens of text that it takes in; 0 if it is not about text.
    pub(crate) tokens: f64,
    /// What it launches.
    pub(crate) function: fn() -> &'static Function,
    /// Uploads operands.
    pub(crate) prepare: Prepare,
}

/// Uploads the operands of a case.
pub(crate) type Prepare = Box<dyn Fn(&Device) -> Result<Prepared, Error>>;

/// A case on a device.
pub(crate) struct Prepared {
    /// Queues one launch.
    pub(crate) launch: Box<dyn Fn() -> Result<(), Error>>,
    /// Launches once, waits, and yields the largest error of some elements, relative to its bound.
    pub(crate) error: Box<dyn Fn() -> Result<f64, Error>>,
}

impl Prepared {
    /// Launches twice and compares the second result: the largest error, relative to its bound.
    pub(crate) fn check(&self) -> Result<f64, Failure> {
        (self.launch)()?;
        let error = (self.error)()?;
        if error.is_nan() || error > 1.0 { Err(Failure::WrongResult(error)) } else { Ok(error) }
    }
}

/// The sizes of a run.
pub(crate) struct Sizes {
    /// Elements.
    pub(crate) pointwise: &'static [usize],
    /// Square contractions.
    squares: &'static [usize],
    /// Other contractions: rows M, columns N, depth K.
    shapes: &'static [[usize; 3]],
    /// Square matrices whose rows or columns are reduced.
    pub(crate) rows: &'static [usize],
    /// Heads and length of attentions.
    pub(crate) attention: &'static [[usize; 2]],
    /// Gated products: rows M, columns N, depth K.
    pub(crate) gated: &'static [[usize; 3]],
    /// Products of normalized rows: rows M, columns N, depth K.
    pub(crate) operands: &'static [[usize; 3]],
    /// Normalized products: rows M and depth K, of 384 columns.
    pub(crate) normed: &'static [[usize; 2]],
    /// Texts and their length in tokens.
    pub(crate) texts: &'static [[usize; 2]],
}

impl Sizes {
    /// For GPUs.
    pub(crate) const fn full() -> Self {
        Self {
            pointwise: &[1 << 20, 1 << 24, 1 << 26],
            squares: &[128, 256, 512, 1024, 2048, 4096, 8192],
            shapes: &[[1, 4096, 4096], [4, 4096, 4096], [32, 4096, 4096], [4096, 64, 4096], [64, 64, 16384]],
            rows: &[4096],
            attention: &[[32, 1024]],
            gated: &[[512, 1536, 512], [2048, 4096, 1024]],
            operands: &[[1, 4096, 4096], [128, 1024, 1024], [2048, 4096, 1024]],
            normed: &[[128, 384], [128, 1536], [4096, 384], [4096, 1536]],
            texts: &[[1, 128], [32, 128], [128, 128]],
        }
    }

    /// For software drivers.
    pub(crate) const fn quick() -> Self {
        Self {
            pointwise: &[1 << 16, 1 << 20],
            squares: &[64, 256],
            shapes: &[[1, 512, 512], [16, 16, 2048]],
            rows: &[256],
            attention: &[[2, 128]],
            gated: &[[64, 64, 64]],
            operands: &[[16, 64, 64]],
            normed: &[[16, 64]],
            texts: &[[1, 16]],
        }
    }
}

/// `1048576` as `2^20`.
pub(crate) fn power_of_two(elements: usize) -> String {
    format!("2^{}", elements.ilog2())
}

/// Every case, in the order of the report.
pub(crate) fn all(sizes: &Sizes) -> Vec<Case> {
    let mut cases = vec![];
    for &n in sizes.pointwise {
        cases.extend(pointwise(n));
    }
    let squares = sizes.squares.iter().map(|&n| [n, n, n]);
    for shape in squares.clone() {
        cases.extend(linear_algebra::<f32>(shape, LINEAR_NAMES_F32));
    }
    for shape in squares {
        cases.extend(linear_algebra::<fuse_gpu::f16>(shape, LINEAR_NAMES_F16));
    }
    for &shape in sizes.shapes {
        cases.extend(products::<f32>(shape, ["matmul f32", "matmul_t f32"]));
        cases.extend(products::<fuse_gpu::f16>(shape, ["matmul f16", "matmul_t f16"]));
    }
    cases.extend(crate::blocks::all(sizes));
    cases
}

const LINEAR_NAMES_F32: [&str; 3] = ["matmul f32", "relu(matmul + b + r) f32", "matmul(gelu(x)) + b f32"];
const LINEAR_NAMES_F16: [&str; 3] = ["matmul f16", "relu(matmul + b + r) f16", "matmul(gelu(x)) + b f16"];

pub(crate) const A: Values = Values { seed: 1 };
pub(crate) const B: Values = Values { seed: 2 };
pub(crate) const C: Values = Values { seed: 3 };
pub(crate) const D: Values = Values { seed: 4 };

fn pointwise(n: usize) -> [Case; 4] {
    let case = |name, operands: usize, function, prepare| Case {
        name,
        size: power_of_two(n),
        f16: false,
        flops: 0.0,
        bytes: ((operands + 1) * 4 * n) as f64,
        tokens: 0.0,
        function,
        prepare,
    };
    let upload = move |device: &Device, values: Values| Tensor1::from_vec(device, values.vec(n), [n]);
    [
        case("copy, by fuse!", 1, || &copy::FUNCTION, {
            Box::new(move |device| {
                let a = upload(device, A)?;
                let output = Tensor1::zeros(device, [n])?;
                Ok(prepared(output, 0, move |y| copy::launch_into(&a, y), |i| A.at(i)))
            })
        }),
        case("(a + b) * c", 3, || scaled_sum::function::<f32>(), {
            Box::new(move |device| {
                let (a, b, c) = (upload(device, A)?, upload(device, B)?, upload(device, C)?);
                let output = Tensor1::zeros(device, [n])?;
                let expected = |i| (A.at(i) + B.at(i)) * C.at(i);
                Ok(prepared(output, 0, move |y| scaled_sum::launch_into(&a, &b, &c, y), expected))
            })
        }),
        case("relu(a + b)", 2, || relu_sum::function::<f32>(), {
            Box::new(move |device| {
                let (a, b) = (upload(device, A)?, upload(device, B)?);
                let output = Tensor1::zeros(device, [n])?;
                let expected = |i| (A.at(i) + B.at(i)).max(0.0);
                Ok(prepared(output, 0, move |y| relu_sum::launch_into(&a, &b, y), expected))
            })
        }),
        case("sigmoid(a * b + c)", 3, || sigmoid_product::function::<f32>(), {
            Box::new(move |device| {
                let (a, b, c) = (upload(device, A)?, upload(device, B)?, upload(device, C)?);
                let output = Tensor1::zeros(device, [n])?;
                let expected = |i| 1.0 / (1.0 + (-(A.at(i) * B.at(i) + C.at(i))).exp());
                Ok(prepared(output, 0, move |y| sigmoid_product::launch_into(&a, &b, &c, y), expected))
            })
        }),
    ]
}

/// The operands of a linear layer, in the order x, w, b, r, with the numbers of their elements.
const fn elements([m, n, k]: [usize; 3]) -> [usize; 4] {
    [m * k, k * n, n, m * n]
}

fn linear_algebra<T: Real>(shape: [usize; 3], names: [&'static str; 3]) -> Vec<Case> {
    let [product_name, linear_name, gelu_name] = names;
    let [x, w, b, y] = elements(shape);
    let [m, n, k] = shape;
    let mut cases = vec![product_case::<T>(shape, product_name)];
    let dot = move |i: usize, f: fn(f64) -> f64| A.dot(B, (0..k).map(|d| (i / n * k + d, d * n + i % n)), f);
    cases.push(contraction::<T>(linear_name, shape, x + w + b + 2 * y, || linear::function::<T>(), {
        Box::new(move |device| {
            let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [k, n])?);
            let (b, r) = (upload::<T, 1>(device, C, [n])?, upload::<T, 2>(device, D, [m, n])?);
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| (dot(i, |x| x) + C.at(i % n) + D.at(i)).max(0.0);
            Ok(prepared(output, k, move |y| linear::launch_into(&x, &w, &b, &r, y), expected))
        })
    }));
    cases.push(contraction::<T>(gelu_name, shape, x + w + b + y, || gelu_linear::function::<T>(), {
        Box::new(move |device| {
            let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [k, n])?);
            let b = upload::<T, 1>(device, C, [n])?;
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| dot(i, gelu) + C.at(i % n);
            Ok(prepared(output, k, move |y| gelu_linear::launch_into(&x, &w, &b, y), expected))
        })
    }));
    cases
}

fn products<T: Real>(shape: [usize; 3], names: [&'static str; 2]) -> [Case; 2] {
    let [m, n, k] = shape;
    let [x, w, _, y] = elements(shape);
    let function = || product_transposed::function::<T>();
    let transposed = contraction::<T>(names[1], shape, x + w + y, function, {
        Box::new(move |device| {
            let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [n, k])?);
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| A.dot(B, (0..k).map(|d| (i / n * k + d, i % n * k + d)), |x| x);
            Ok(prepared(output, k, move |y| product_transposed::launch_into(&x, &w, y), expected))
        })
    });
    [product_case::<T>(shape, names[0]), transposed]
}

fn product_case<T: Real>(shape: [usize; 3], name: &'static str) -> Case {
    let [m, n, k] = shape;
    let [x, w, _, y] = elements(shape);
    contraction::<T>(name, shape, x + w + y, || product::function::<T>(), {
        Box::new(move |device| {
            let (x, w) = (upload::<T, 2>(device, A, [m, k])?, upload::<T, 2>(device, B, [k, n])?);
            let output = Tensor2::<T>::zeros(device, [m, n])?;
            let expected = move |i: usize| A.dot(B, (0..k).map(|d| (i / n * k + d, d * n + i % n)), |x| x);
            Ok(prepared(output, k, move |y| product::launch_into(&x, &w, y), expected))
        })
    })
}

fn contraction<T: Real>(
    name: &'static str,
    [m, n, k]: [usize; 3],
    elements: usize,
    function: fn() -> &'static Function,
    prepare: Prepare,
) -> Case {
    Case {
        name,
        size: format!("{m}x{n}x{k}"),
        f16: T::DTYPE.bytes() == 2,
        flops: 2.0 * (m * n * k) as f64,
        bytes: (elements as u64 * T::DTYPE.bytes()) as f64,
        tokens: 0.0,
        function,
        prepare,
    }
}

pub(crate) fn upload<T: Real, const R: usize>(
    device: &Device,
    values: Values,
    shape: [usize; R],
) -> Result<Tensor<T, R>, Error> {
    let count = shape.iter().product();
    Tensor::from_vec(device, values.vec(count), shape)
}

/// A launch that writes into `output` over and over, and what its elements, sums of `depth` products, must be.
pub(crate) fn prepared<T: Real, const R: usize>(
    output: Tensor<T, R>,
    depth: usize,
    launch: impl Fn(&mut Tensor<T, R>) -> Result<(), Error> + 'static,
    expected: impl Fn(usize) -> f64 + 'static,
) -> Prepared {
    let output = std::rc::Rc::new(std::cell::RefCell::new(output));
    let launch = {
        let output = output.clone();
        std::rc::Rc::new(move || launch(&mut output.borrow_mut()))
    };
    let again = launch.clone();
    let error = move || {
        again()?;
        let values = output.borrow().to_vec_blocking()?;
        Ok(worst_error::<T>(&values, depth, &expected))
    };
    Prepared { launch: Box::new(move || launch()), error: Box::new(error) }
}
