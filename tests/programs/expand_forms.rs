//! Every form of `fuse!`, compiled by rustc and launched on an adapter.

use fuse_compiler::{compile, front};
use fuse_gpu::{Device, Error, Tensor, Tensor0, Tensor1, Tensor2, Tensor3, f16, fuse};

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.7).sin()).collect()
}

fn matrix(device: &Device, shape: [usize; 2]) -> Tensor2<f32> {
    Tensor::from_vec(device, values(shape[0] * shape[1]), shape).expect("a tensor")
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "[{i}]: {found}, expected {expected}");
    }
}

fn matmul(x: &[f32], w: &[f32], [m, k, n]: [usize; 3]) -> Vec<f32> {
    let dot = |i: usize, j: usize| (0..k).map(|l| x[i * k + l] * w[l * n + j]).sum();
    (0..m * n).map(|at| dot(at / n, at % n)).collect()
}

macro_rules! block {
    ($source:ident: $($tokens:tt)*) => {
        fuse! { $($tokens)* }
        const $source: &str = stringify!($($tokens)*);
    };
}

block! { SOURCE:
    /// relu(x·w + b + r): a linear layer with a residual connection.
    pub fn linear_residual_relu(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }

    pub(crate) fn scaled<T: Float>(x: T[M, N], s: T) -> T[M, N] {
        x * s
    }

    fn sum_and_product(a: i32[N], b: i32[N]) -> (i32[N], i32[N]) {
        (a + b, a * b)
    }

    fn scaled_by_two_plus(x: f32[M, N], offset: f32) -> f32[M, N] {
        scaled(x, 2.0) + offset
    }

    fn clipped(x: u32[N], limit: u32, on: bool) -> u32[N] {
        select(on, min(x, limit), x)
    }
}

#[test]
fn item_form_launches() -> Result<(), Error> {
    let device = device();
    let [m, k, n] = [5, 7, 9];
    let (x, w, r) = (matrix(&device, [m, k]), matrix(&device, [k, n]), matrix(&device, [m, n]));
    let b = Tensor1::from_vec(&device, values(n), [n])?;
    let y = linear_residual_relu(&x, &w, &b, &r)?;
    assert_eq!(y.shape(), [m, n]);
    let (product, bias, residual) = (matmul(&values(m * k), &values(k * n), [m, k, n]), values(n), values(m * n));
    let expected: Vec<f32> = (0..m * n).map(|i| (product[i] + bias[i % n] + residual[i]).max(0.0)).collect();
    assert_close(&y.to_vec_blocking()?, &expected);
    Ok(())
}

#[test]
fn shapes_that_disagree_are_errors_that_name_the_argument() {
    let device = device();
    let (x, w, r) = (matrix(&device, [2, 3]), matrix(&device, [4, 5]), matrix(&device, [2, 5]));
    let b = Tensor1::zeros(&device, [5]).expect("a tensor");
    let error = linear_residual_relu(&x, &w, &b, &r).expect_err("3 columns against 4 rows").to_string();
    assert!(error.contains("linear_residual_relu") && error.contains("`w`") && error.contains('K'), "{error}");
}

#[test]
fn generic_functions_follow_the_element_type() -> Result<(), Error> {
    let device = device();
    let single = scaled(&matrix(&device, [2, 3]), 0.5)?.to_vec_blocking()?;
    assert_close(&single, &values(6).iter().map(|x| x * 0.5).collect::<Vec<_>>());

    let halves: Vec<f16> = values(6).into_iter().map(f16::from_f32).collect();
    let x = Tensor2::from_slice(&device, &halves, [2, 3])?;
    let double = scaled(&x, f16::from_f32(2.0))?.to_vec_blocking()?;
    let expected: Vec<f16> = halves.iter().map(|x| f16::from_f32(x.to_f32() * 2.0)).collect();
    assert_eq!(double, expected);
    Ok(())
}

#[test]
fn several_results_are_a_tuple() -> Result<(), Error> {
    let device = device();
    let a = Tensor1::from_vec(&device, vec![1, -2, 3, i32::MAX], [4])?;
    let b = Tensor1::from_vec(&device, vec![10, 20, 30, 1], [4])?;
    let (sum, product) = sum_and_product(&a, &b)?;
    assert_eq!(sum.to_vec_blocking()?, [11, 18, 33, i32::MIN]);
    assert_eq!(product.to_vec_blocking()?, [10, -40, 90, i32::MAX]);
    Ok(())
}

#[test]
fn functions_of_a_block_call_each_other_and_take_scalars() -> Result<(), Error> {
    let device = device();
    let y = scaled_by_two_plus(&matrix(&device, [3, 3]), -1.0)?.to_vec_blocking()?;
    assert_close(&y, &values(9).iter().map(|x| x * 2.0 - 1.0).collect::<Vec<_>>());

    let x = Tensor1::from_vec(&device, vec![1u32, 5, 9], [3])?;
    assert_eq!(clipped(&x, 4, true)?.to_vec_blocking()?, [1, 4, 4]);
    assert_eq!(clipped(&x, 4, false)?.to_vec_blocking()?, [1, 5, 9]);
    Ok(())
}

#[test]
fn launch_into_writes_given_tensors() -> Result<(), Error> {
    let device = device();
    let x = matrix(&device, [4, 4]);
    let mut y = Tensor2::zeros(&device, [4, 4])?;
    scaled::launch_into(&x, 3.0, &mut y)?;
    assert_close(&y.to_vec_blocking()?, &values(16).iter().map(|x| x * 3.0).collect::<Vec<_>>());

    let a = Tensor1::from_vec(&device, vec![6, 7], [2])?;
    let (mut sum, mut product) = (Tensor1::zeros(&device, [2])?, Tensor1::zeros(&device, [2])?);
    sum_and_product::launch_into(&a, &a, (&mut sum, &mut product))?;
    assert_eq!((sum.to_vec_blocking()?, product.to_vec_blocking()?), (vec![12, 14], vec![36, 49]));

    let mut wrong = Tensor2::zeros(&device, [4, 5])?;
    assert!(scaled::launch_into(&x, 3.0, &mut wrong).is_err());
    Ok(())
}

#[test]
fn errors_of_expressions_name_their_place() {
    let device = device();
    let (x, y) = (matrix(&device, [2, 3]), matrix(&device, [2, 4]));
    let (line, error) = (line!(), fuse!(x + y).unwrap_err());
    assert!(error.to_string().starts_with(&format!("kernel `fuse! at {}:{line}`", file!())), "{error}");
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn kernels_and_plan_can_be_read() {
    assert_eq!(linear_residual_relu::KERNELS.len(), 1, "{}", linear_residual_relu::PLAN);
    for kernel in linear_residual_relu::KERNELS.iter().chain(scaled::KERNELS) {
        assert!(!kernel.variants.is_empty());
        for variant in kernel.variants.iter() {
            assert!(variant.passes.iter().all(|pass| pass.wgsl.contains("fn main")));
        }
    }
    let plan = linear_residual_relu::PLAN.to_string();
    assert!(plan.contains("dispatches: 1"), "{plan}");
    assert!(plan.contains("matmul") && plan.contains("relu"), "{plan}");
}

#[test]
fn statics_equal_what_the_compiler_makes() {
    let items = front::items(SOURCE.parse().expect("tokens"));
    let compiled = |name: &str, instance: usize| {
        let function = items.functions.iter().find(|function| function.header.name == name).expect("a function");
        let graph = &function.instances[instance].graph;
        compile::compile(graph, &compile::Options::default()).expect("compiles").function
    };
    assert_eq!(linear_residual_relu::FUNCTION, compiled("linear_residual_relu", 0));
    assert_eq!(sum_and_product::FUNCTION, compiled("sum_and_product", 0));
    assert_eq!(*scaled::function::<f32>(), compiled("scaled", 0));
    assert_eq!(*scaled::function::<f16>(), compiled("scaled", 1));
}

#[test]
fn blocks_stand_in_function_bodies() -> Result<(), Error> {
    fuse! {
        fn doubled(x: f32[N]) -> f32[N] { x + x }
    }
    let device = device();
    let x = Tensor1::from_vec(&device, values(5), [5])?;
    assert_close(&doubled(&x)?.to_vec_blocking()?, &values(5).iter().map(|x| x * 2.0).collect::<Vec<_>>());
    assert_eq!(doubled::KERNELS.len(), 1);
    Ok(())
}

#[test]
fn expression_form_takes_ranks_from_the_tensors() -> Result<(), Error> {
    let device = device();
    let a = Tensor3::from_vec(&device, values(24), [2, 3, 4])?;
    let b = &Tensor1::from_vec(&device, values(4), [4])?;
    let c = 0.25f32;
    let y: Tensor3<f32> = fuse!(sigmoid(a * b + c))?;
    assert_eq!(y.shape(), [2, 3, 4]);
    let (av, bv) = (values(24), values(4));
    let expected: Vec<f32> = (0..24).map(|i| 1.0 / (1.0 + (-(av[i] * bv[i % 4] + c)).exp())).collect();
    assert_close(&y.to_vec_blocking()?, &expected);
    assert_eq!((a.len(), b.len()), (24, 4));
    Ok(())
}

#[test]
fn expression_form_multiplies_matrices() -> Result<(), Error> {
    let device = device();
    let [m, k, n] = [6, 5, 4];
    let x = Tensor3::from_vec(&device, values(2 * m * k), [2, m, k])?;
    let w = matrix(&device, [k, n]);
    let b = Tensor1::from_vec(&device, values(n), [n])?;
    let r = matrix(&device, [m, n]);
    let y: Tensor3<f32> = fuse!(relu(matmul(x, w) + b + r))?;
    assert_eq!(y.shape(), [2, m, n]);
    let (product, bias, residual) =
        (matmul(&values(2 * m * k), &values(k * n), [2 * m, k, n]), values(n), values(m * n));
    let expected: Vec<f32> =
        (0..2 * m * n).map(|i| (product[i] + bias[i % n] + residual[i % (m * n)]).max(0.0)).collect();
    assert_close(&y.to_vec_blocking()?, &expected);
    Ok(())
}

#[test]
fn expression_form_repeats_a_product_along_a_larger_operand() -> Result<(), Error> {
    let device = device();
    let (x, w, r) = (matrix(&device, [1, 5]), matrix(&device, [5, 4]), matrix(&device, [3, 4]));
    let y = fuse!(relu(matmul(x, w) + r))?;
    assert_eq!(y.shape(), [3, 4]);
    let (product, residual) = (matmul(&values(5), &values(20), [1, 5, 4]), values(12));
    let expected: Vec<f32> = (0..12).map(|i| (product[i % 4] + residual[i]).max(0.0)).collect();
    assert_close(&y.to_vec_blocking()?, &expected);
    Ok(())
}

#[test]
fn expression_form_takes_rank_0_and_every_kind_of_number() -> Result<(), Error> {
    let device = device();
    let x = Tensor0::from_vec(&device, vec![3.0f32], [])?;
    let s = 2.0;
    let y: Tensor0<f32> = fuse!(x * s)?;
    assert_eq!(y.to_vec_blocking()?, [6.0]);

    let i = Tensor1::from_vec(&device, vec![1i32, 2, 3], [3])?;
    let step = 10;
    assert_eq!(fuse!(i * step - 1)?.to_vec_blocking()?, [9, 19, 29]);

    let on = true;
    assert_eq!(fuse!(select(on, i, -i))?.to_vec_blocking()?, [1, 2, 3]);
    let truths: Tensor1<bool> = fuse!(i > 1)?;
    assert_eq!(truths.to_vec_blocking()?, [false, true, true]);
    Ok(())
}

#[test]
fn expression_form_follows_the_element_type_of_generic_code() -> Result<(), Error> {
    fn squared<T: fuse_gpu::Float>(x: &Tensor1<T>) -> Result<Tensor1<T>, Error> {
        fuse!(x * x)
    }
    let device = device();
    let single = Tensor1::from_vec(&device, vec![1.5f32, -2.0], [2])?;
    assert_eq!(squared(&single)?.to_vec_blocking()?, [2.25, 4.0]);
    let halves = [1.5, -2.0].map(f16::from_f32);
    let half = Tensor1::from_slice(&device, &halves, [2])?;
    assert_eq!(squared(&half)?.to_vec_blocking()?, [2.25, 4.0].map(f16::from_f32));
    Ok(())
}

#[test]
fn operands_that_do_not_broadcast_are_errors() {
    let device = device();
    let (a, b) = (matrix(&device, [2, 3]), matrix(&device, [2, 4]));
    let error = fuse!(a + b).expect_err("3 against 4").to_string();
    assert!(error.contains('3') && error.contains('4'), "{error}");
}

#[cfg(feature = "reference")]
#[test]
fn reference_computes_the_same_in_f64() -> Result<(), Error> {
    let device = device();
    let x = matrix(&device, [3, 4]);
    let [expected] = scaled_by_two_plus::reference(&x, 0.5)?;
    assert_eq!(expected.shape, [3, 4]);
    let found = scaled_by_two_plus(&x, 0.5)?.to_vec_blocking()?;
    assert_close(&found, &expected.data.iter().map(|&x| x as f32).collect::<Vec<_>>());

    let a = Tensor1::from_vec(&device, vec![6, 7], [2])?;
    let [sum, product] = sum_and_product::reference(&a, &a)?;
    assert_eq!((sum.data, product.data), (vec![12.0, 14.0], vec![36.0, 49.0]));

    let [half] = scaled::reference(&Tensor2::full(&device, f16::from_f32(0.5), [1, 2])?, f16::from_f32(3.0))?;
    assert_eq!(half.data, [1.5, 1.5]);
    assert!(scaled_by_two_plus::reference(&x, f32::NAN)?[0].data.iter().all(|x| x.is_nan()));
    Ok(())
}
