//! Formulas measured alone and as fused and unfused pairs: operands, expected results, counts of bytes and operations.
//! `cases` and `ratios` choose functions.

use fuse_gpu::{Device, Error, Tensor, Tensor1, Tensor2};

use crate::data::{A, B, C, D, Real, Values, gelu, worst_error};

/// A formula at one size; functions launch as an `L`.
pub(crate) struct Formula<L> {
    /// Text, without its dtype.
    pub(crate) name: &'static str,
    pub(crate) f16: bool,
    pub(crate) operands: Vec<Vec<usize>>,
    pub(crate) result: Vec<usize>,
    pub(crate) flops: f64,
    pub(crate) upload: Upload<L>,
}

pub(crate) type Upload<L> = Box<dyn Fn(&Device) -> Result<Uploaded<L>, Error>>;

/// Prepares launches of uploaded operands, each with its own result.
pub(crate) type Uploaded<L> = Box<dyn Fn(L) -> Result<Prepared, Error>>;

pub(crate) type Launch1<X> = fn(&X, &mut X) -> Result<(), Error>;
pub(crate) type Launch2<X> = fn(&X, &X, &mut X) -> Result<(), Error>;
/// `launch_into` of three vectors.
pub(crate) type Launch3<X> = fn(&X, &X, &X, &mut X) -> Result<(), Error>;
/// `launch_into`: x, w, row b.
pub(crate) type LaunchRow<T> = fn(&Tensor2<T>, &Tensor2<T>, &Tensor1<T>, &mut Tensor2<T>) -> Result<(), Error>;
/// `launch_into`: x, w, row b, r.
pub(crate) type LaunchLinear<T> =
    fn(&Tensor2<T>, &Tensor2<T>, &Tensor1<T>, &Tensor2<T>, &mut Tensor2<T>) -> Result<(), Error>;

impl<L> Formula<L> {
    /// Operands and result, each once.
    pub(crate) fn bytes(&self) -> f64 {
        let shapes = self.operands.iter().chain([&self.result]);
        let elements: usize = shapes.map(|shape| shape.iter().product::<usize>()).sum();
        (elements * if self.f16 { 2 } else { 4 }) as f64
    }
}

pub(crate) struct Prepared {
    pub(crate) launch: Box<dyn Fn() -> Result<(), Error>>,
    /// Launches once and waits; the largest error, relative to its bound.
    pub(crate) error: Box<dyn Fn() -> Result<f64, Error>>,
}

/// Launches into `output`, with elements of `depth` products.
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

pub(crate) fn upload<T: Real, const R: usize>(
    device: &Device,
    values: Values,
    shape: [usize; R],
) -> Result<Tensor<T, R>, Error> {
    let count = shape.iter().product();
    Tensor::from_vec(device, values.vec(count), shape)
}

fn chain<T: Real, L>(
    name: &'static str,
    n: usize,
    [operands, operations]: [usize; 2],
    upload: impl Fn(&Device) -> Result<Uploaded<L>, Error> + 'static,
) -> Formula<L> {
    Formula {
        name,
        f16: T::DTYPE.bytes() == 2,
        operands: vec![vec![n]; operands],
        result: vec![n],
        flops: (operations * n) as f64,
        upload: Box::new(upload),
    }
}

pub(crate) fn copy<T: Real>(n: usize) -> Formula<Launch1<Tensor1<T>>> {
    chain::<T, _>("copy, by fuse!", n, [1, 0], move |device| {
        let (a, device) = (upload(device, A, [n])?, device.clone());
        Ok(Box::new(move |launch: Launch1<Tensor1<T>>| {
            let a = Tensor1::clone(&a);
            Ok(prepared(Tensor1::zeros(&device, [n])?, 0, move |y| launch(&a, y), |i| A.at(i)))
        }))
    })
}

pub(crate) fn scaled_sum<T: Real>(n: usize) -> Formula<Launch3<Tensor1<T>>> {
    three("(a + b) * c", n, 2, |i| (A.at(i) + B.at(i)) * C.at(i))
}

pub(crate) fn sigmoid_product<T: Real>(n: usize) -> Formula<Launch3<Tensor1<T>>> {
    three("sigmoid(a * b + c)", n, 3, |i| 1.0 / (1.0 + (-(A.at(i) * B.at(i) + C.at(i))).exp()))
}

fn three<T: Real>(
    name: &'static str,
    n: usize,
    operations: usize,
    expected: fn(usize) -> f64,
) -> Formula<Launch3<Tensor1<T>>> {
    chain::<T, _>(name, n, [3, operations], move |device| {
        let (a, b, c) = (upload(device, A, [n])?, upload(device, B, [n])?, upload(device, C, [n])?);
        let device = device.clone();
        Ok(Box::new(move |launch: Launch3<Tensor1<T>>| {
            let (a, b, c) = (Tensor1::clone(&a), Tensor1::clone(&b), Tensor1::clone(&c));
            Ok(prepared(Tensor1::zeros(&device, [n])?, 0, move |y| launch(&a, &b, &c, y), expected))
        }))
    })
}

pub(crate) fn relu_sum<T: Real>(n: usize) -> Formula<Launch2<Tensor1<T>>> {
    chain::<T, _>("relu(a + b)", n, [2, 2], move |device| {
        let (a, b, device) = (upload(device, A, [n])?, upload(device, B, [n])?, device.clone());
        Ok(Box::new(move |launch: Launch2<Tensor1<T>>| {
            let (a, b) = (Tensor1::clone(&a), Tensor1::clone(&b));
            let expected = |i| (A.at(i) + B.at(i)).max(0.0);
            Ok(prepared(Tensor1::zeros(&device, [n])?, 0, move |y| launch(&a, &b, y), expected))
        }))
    })
}

fn contraction<T: Real, L>(
    name: &'static str,
    [m, n, k]: [usize; 3],
    operands: &[&[usize]],
    upload: impl Fn(&Device) -> Result<Uploaded<L>, Error> + 'static,
) -> Formula<L> {
    let factors = [vec![m, k], vec![k, n]];
    Formula {
        name,
        f16: T::DTYPE.bytes() == 2,
        operands: factors.into_iter().chain(operands.iter().map(|shape| shape.to_vec())).collect(),
        result: vec![m, n],
        flops: 2.0 * (m * n * k) as f64,
        upload: Box::new(upload),
    }
}

fn dot([_, n, k]: [usize; 3], i: usize, f: fn(f64) -> f64) -> f64 {
    A.dot(B, (0..k).map(|d| (i / n * k + d, d * n + i % n)), f)
}

fn factors<T: Real>(device: &Device, [m, n, k]: [usize; 3]) -> Result<[Tensor2<T>; 2], Error> {
    Ok([upload(device, A, [m, k])?, upload(device, B, [k, n])?])
}

pub(crate) fn product<T: Real>(shape: [usize; 3]) -> Formula<Launch2<Tensor2<T>>> {
    of_product("matmul", shape, |x| x)
}

pub(crate) fn relu_product<T: Real>(shape: [usize; 3]) -> Formula<Launch2<Tensor2<T>>> {
    of_product("relu(matmul)", shape, |x| x.max(0.0))
}

fn of_product<T: Real>(
    name: &'static str,
    shape: [usize; 3],
    epilogue: fn(f64) -> f64,
) -> Formula<Launch2<Tensor2<T>>> {
    let [m, n, k] = shape;
    contraction::<T, _>(name, shape, &[], move |device| {
        let ([x, w], device) = (factors::<T>(device, shape)?, device.clone());
        Ok(Box::new(move |launch: Launch2<Tensor2<T>>| {
            let (x, w) = (x.clone(), w.clone());
            let expected = move |i| epilogue(dot(shape, i, |x| x));
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |y| launch(&x, &w, y), expected))
        }))
    })
}

/// `x·wᵀ`, w as `[N, K]`.
pub(crate) fn product_transposed<T: Real>(shape: [usize; 3]) -> Formula<Launch2<Tensor2<T>>> {
    let [m, n, k] = shape;
    let formula = contraction::<T, _>("matmul_t", shape, &[], move |device| {
        let (x, w, device) = (upload(device, A, [m, k])?, upload(device, B, [n, k])?, device.clone());
        Ok(Box::new(move |launch: Launch2<Tensor2<T>>| {
            let (x, w) = (Tensor2::clone(&x), Tensor2::clone(&w));
            let expected = move |i| A.dot(B, (0..k).map(|d| (i / n * k + d, i % n * k + d)), |x| x);
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |y| launch(&x, &w, y), expected))
        }))
    });
    Formula { operands: vec![vec![m, k], vec![n, k]], ..formula }
}

pub(crate) fn linear<T: Real>(shape: [usize; 3]) -> Formula<LaunchLinear<T>> {
    let [m, n, k] = shape;
    contraction::<T, _>("relu(matmul + b + r)", shape, &[&[n], &[m, n]], move |device| {
        let [x, w] = factors::<T>(device, shape)?;
        let (b, r, device) = (upload(device, C, [n])?, upload(device, D, [m, n])?, device.clone());
        Ok(Box::new(move |launch: LaunchLinear<T>| {
            let (x, w, b, r) = (x.clone(), w.clone(), Tensor1::clone(&b), Tensor2::clone(&r));
            let expected = move |i| (dot(shape, i, |x| x) + C.at(i % n) + D.at(i)).max(0.0);
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |y| launch(&x, &w, &b, &r, y), expected))
        }))
    })
}

pub(crate) fn gelu_linear<T: Real>(shape: [usize; 3]) -> Formula<LaunchRow<T>> {
    let [m, n, k] = shape;
    contraction::<T, _>("matmul(gelu(x)) + b", shape, &[&[n]], move |device| {
        let ([x, w], b, device) = (factors::<T>(device, shape)?, upload(device, C, [n])?, device.clone());
        Ok(Box::new(move |launch: LaunchRow<T>| {
            let (x, w, b) = (x.clone(), w.clone(), Tensor1::clone(&b));
            let expected = move |i| dot(shape, i, gelu) + C.at(i % n);
            Ok(prepared(Tensor2::zeros(&device, [m, n])?, k, move |y| launch(&x, &w, &b, y), expected))
        }))
    })
}
