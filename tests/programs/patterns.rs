//! Functions of one `fuse!` block called in others: across modules and crates, in both forms, against the interpreter
//! and in one dispatch.

use fuse_gpu::{__private::reference::Value, Device, Element, Error, Float, Tensor, Tensor1, Tensor2, f16, fuse};
use fuse_test_patterns::gates::both;

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[M, N]) -> f32[M, N] {
            x * tanh(x) + offset(x)
        }

        fn offset(x: f32[M, N]) -> f32[M, N] {
            x * 0.25 + 1.0
        }

        pub(crate) fn twice<T: Float>(x: T[M, N]) -> T[M, N] {
            x * 2.0
        }

        pub(super) fn scaled(x: f32[M, N], scale: f32) -> f32[M, N] {
            x * scale
        }

        /// Named like a macro of Rust.
        pub fn column(x: f32[M, N]) -> f32[M, N] {
            -x
        }

        /// Counts axes from the front.
        pub fn swapped(x: f32[M, N]) -> f32[N, M] {
            permute(x, [1, 0])
        }
    }

    pub(super) mod inner {
        use fuse_gpu::fuse;

        fuse! {
            use super::offset;

            pub(crate) fn shifted(x: f32[M, N]) -> f32[M, N] {
                offset(x) - 3.0
            }
        }
    }
}

fuse! {
    use crate::patterns::activations::wave;

    /// wave(x·w + b), through two levels of calls.
    pub fn layer(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] {
        wave(matmul(x, w) + b)
    }
}

fuse! {
    use activations::{inner::shifted, scaled as stretched, twice};
    use fuse_test_patterns::{activations::swish_fast, gate as gated};

    /// All imports; `offset` and `helper` differ from those in the modules of the imports.
    pub fn mixture(x: f32[M, N], g: f32[M, N], s: f32) -> f32[M, N] {
        gated(swish_fast(x), g) + shifted(x) * twice(stretched(g, s)) - offset(x) + helper(x)
    }

    fn offset(x: f32[M, N]) -> f32[M, N] {
        x - 100.0
    }

    fn helper(x: f32[M, N]) -> f32[M, N] {
        x * x
    }
}

fuse! {
    use fuse_test_patterns::{activations::swish_fast, gates::both as halves};

    /// Generic functions in a generic function, one of them with two results.
    pub fn split<T: Float>(x: T[M, N], a: T[N], b: T[N]) -> (T[M, N], T[N]) {
        let (sum, difference) = halves(a, b);
        (swish_fast(x) + sum, difference)
    }
}

/// Imports of a block that itself imports, and of one that only re-exports.
mod nested {
    use fuse_gpu::fuse;

    pub(crate) mod facade {
        pub(crate) use crate::patterns::layer;
    }

    fuse! {
        use self::facade::layer;

        pub(crate) fn two_layers(x: f32[M, M], w: f32[M, M], b: f32[M]) -> f32[M, M] {
            layer(layer(x, w, b), w, b)
        }
    }
}

/// A macro that expands to a block, passing tokens through.
macro_rules! activation {
    ($name:ident = |$x:ident| $value:expr) => {
        fuse! {
            pub fn $name($x: f32[N]) -> f32[N] { $value }
        }
    };
}

#[expect(unreachable_pub, reason = "exported functions are the harder case")]
mod first {
    use fuse_gpu::fuse;
    activation!(of_a_macro = |x| x + 1.0);
}

#[expect(unreachable_pub, reason = "exported functions are the harder case")]
mod second {
    use fuse_gpu::fuse;
    activation!(of_a_macro = |x| x + 2.0);
}

/// A macro that expands to imports, twice in one module.
macro_rules! wavy {
    ($name:ident, $factor:literal) => {
        fuse! {
            use $crate::patterns::activations::{twice, wave};

            fn $name(x: f32[M, N]) -> f32[M, N] {
                twice(wave(x)) * $factor
            }
        }
    };
}

wavy!(wavy_half, 0.5);
wavy!(wavy_quarter, 0.25);

fuse! {
    use first::of_a_macro;
    use second::of_a_macro as another;

    fn of_both(x: f32[N]) -> f32[N] {
        of_a_macro(x) * another(x)
    }
}

fn device() -> Device {
    Device::blocking().expect("an adapter (on Debian or Ubuntu: apt install mesa-vulkan-drivers)")
}

fn tensor<T: Float, const D: usize>(device: &Device, shape: [usize; D], seed: usize) -> Tensor<T, D> {
    let value = |i: usize| T::from_f32(((i * 37 + seed * 11) % 64) as f32 / 32.0 - 1.0);
    Tensor::from_vec(device, (0..shape.iter().product()).map(value).collect(), shape).unwrap()
}

fn numbers<T: Float + Into<f64>, const D: usize>(tensor: &Tensor<T, D>) -> Vec<f64> {
    tensor.to_vec_blocking().unwrap().into_iter().map(Into::into).collect()
}

/// At most 64 roundings apart, relative to the larger of 1 and the expected value.
#[track_caller]
fn assert_close<T: Element>(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let epsilon = f64::powi(2.0, if T::DTYPE.bytes() == 2 { -11 } else { -24 });
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let bound = 64.0 * epsilon * expected.abs().max(1.0);
        assert!((found - expected).abs() <= bound, "element {i}: expected {expected}, found {found}");
    }
}

#[track_caller]
fn assert_reference<T: Float + Into<f64>, const D: usize>(actual: &Tensor<T, D>, expected: &Value) {
    assert_eq!(actual.shape(), *expected.shape);
    assert_close::<T>(&numbers(actual), &expected.data);
}

fn wave(x: f64) -> f64 {
    x * x.tanh() + x * 0.25 + 1.0
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn swish_fast(x: f64) -> f64 {
    x * sigmoid(1.5 * x)
}

#[test]
fn an_imported_activation_is_part_of_the_calling_kernel() -> Result<(), Error> {
    let device = device();
    let (x, w) = (tensor::<f32, 2>(&device, [5, 6], 1), tensor::<f32, 2>(&device, [6, 7], 2));
    let b: Tensor1<f32> = tensor(&device, [7], 3);
    let y = layer(&x, &w, &b)?;
    assert_eq!(layer::PLAN.groups.len(), 1);
    assert_reference(&y, &layer::reference(&x, &w, &b)?[0]);
    let (x, w, b) = (numbers(&x), numbers(&w), numbers(&b));
    let dot = |i: usize, j: usize| (0..6).map(|k| x[i * 6 + k] * w[k * 7 + j]).sum::<f64>();
    let expected: Vec<f64> = (0..35).map(|at| wave(dot(at / 7, at % 7) + b[at % 7])).collect();
    assert_close::<f32>(&numbers(&y), &expected);
    Ok(())
}

#[test]
fn helpers_of_equal_names_stay_apart() -> Result<(), Error> {
    let device = device();
    let (x, g) = (tensor::<f32, 2>(&device, [3, 9], 4), tensor::<f32, 2>(&device, [3, 9], 5));
    let y = mixture(&x, &g, 0.5)?;
    assert_eq!(mixture::PLAN.groups.len(), 1);
    assert_reference(&y, &mixture::reference(&x, &g, 0.5)?[0]);
    let mixed = |(&x, &g): (&f64, &f64)| {
        let swish = swish_fast(x);
        let gated = swish_fast(swish) * g - swish / 4.0;
        let shifted = x * 0.25 + 1.0 - 3.0;
        gated + shifted * g - (x - 100.0) + x * x
    };
    let expected: Vec<f64> = numbers(&x).iter().zip(&numbers(&g)).map(mixed).collect();
    assert_close::<f32>(&numbers(&y), &expected);
    Ok(())
}

fn generic_functions<T: Float + Into<f64>>() -> Result<(), Error> {
    let device = device();
    let x: Tensor2<T> = tensor(&device, [4, 5], 6);
    let (a, b): (Tensor1<T>, Tensor1<T>) = (tensor(&device, [5], 7), tensor(&device, [5], 8));
    let (sum, difference) = split(&x, &a, &b)?;
    let [expected_sum, expected_difference] = split::reference(&x, &a, &b)?;
    assert_reference(&sum, &expected_sum);
    assert_reference(&difference, &expected_difference);
    let (x, a, b) = (numbers(&x), numbers(&a), numbers(&b));
    let expected: Vec<f64> = (0..20).map(|at| swish_fast(x[at]) + (a[at % 5] + b[at % 5]) / 2.0).collect();
    assert_close::<T>(&numbers(&sum), &expected);
    Ok(())
}

#[test]
fn generic_functions_are_imported_for_f32() -> Result<(), Error> {
    generic_functions::<f32>()
}

#[test]
fn generic_functions_are_imported_for_f16() -> Result<(), Error> {
    generic_functions::<f16>()
}

#[test]
fn imports_bring_their_own_imports() -> Result<(), Error> {
    let device = device();
    let (x, w) = (tensor::<f32, 2>(&device, [4, 4], 1), tensor::<f32, 2>(&device, [4, 4], 2));
    let b: Tensor1<f32> = tensor(&device, [4], 3);
    let y = nested::two_layers(&x, &w, &b)?;
    assert_reference(&y, &nested::two_layers::reference(&x, &w, &b)?[0]);
    let once = layer(&layer(&x, &w, &b)?, &w, &b)?;
    assert_close::<f32>(&numbers(&y), &numbers(&once));
    Ok(())
}

#[test]
fn blocks_that_a_macro_makes_twice_are_different() -> Result<(), Error> {
    let device = device();
    let x: Tensor1<f32> = tensor(&device, [6], 9);
    let expected: Vec<f64> = numbers(&x).iter().map(|x| (x + 1.0) * (x + 2.0)).collect();
    assert_close::<f32>(&numbers(&of_both(&x)?), &expected);

    let x: Tensor2<f32> = tensor(&device, [2, 3], 9);
    let expected: Vec<f64> = numbers(&x).into_iter().map(wave).collect();
    assert_close::<f32>(&numbers(&wavy_half(&x)?), &expected);
    let expected: Vec<f64> = expected.iter().map(|x| x / 2.0).collect();
    assert_close::<f32>(&numbers(&wavy_quarter(&x)?), &expected);
    Ok(())
}

#[test]
fn functions_of_a_body_are_imported_within_it() -> Result<(), Error> {
    fuse! {
        pub fn square(x: f32[N]) -> f32[N] { x * x }
    }
    fuse! {
        use square as squared;
        fn fourth(x: f32[N]) -> f32[N] { squared(squared(x)) }
    }
    let device = device();
    let x: Tensor1<f32> = tensor(&device, [6], 9);
    let expected: Vec<f64> = numbers(&x).iter().map(|x| x.powi(4)).collect();
    assert_close::<f32>(&numbers(&fourth(&x)?), &expected);
    assert_close::<f32>(&numbers(&square(&square(&x)?)?), &expected);
    Ok(())
}

#[test]
fn expressions_import_functions() -> Result<(), Error> {
    let device = device();
    let (x, w) = (tensor::<f32, 2>(&device, [5, 6], 1), tensor::<f32, 2>(&device, [6, 7], 2));
    let b: Tensor1<f32> = tensor(&device, [7], 3);
    let y: Tensor2<f32> = fuse!({
        use crate::patterns::activations::wave;
        wave(matmul(x, w) + b)
    })?;
    assert_close::<f32>(&numbers(&y), &numbers(&layer(&x, &w, &b)?));
    let z = fuse!({
        use activations::{scaled, wave as wavy};
        scaled(wavy(x), 2.0) + x
    })?;
    let expected: Vec<f64> = numbers(&x).iter().map(|&x| 2.0 * wave(x) + x).collect();
    assert_close::<f32>(&numbers(&z), &expected);
    Ok(())
}

#[test]
fn expressions_take_dtypes_and_ranks_from_the_functions() -> Result<(), Error> {
    let device = device();
    let x: Tensor2<f16> = tensor(&device, [3, 4], 1);
    let y: Tensor2<f16> = fuse!({
        use fuse_test_patterns::activations::swish_fast;
        swish_fast(x)
    })?;
    let expected: Vec<f64> = numbers(&x).into_iter().map(swish_fast).collect();
    assert_close::<f16>(&numbers(&y), &expected);

    let (a, b): (Tensor1<f32>, Tensor1<f32>) = (tensor(&device, [5], 7), tensor(&device, [5], 8));
    let (sum, difference) = fuse!({
        use both;
        let (sum, difference) = both(a, b);
        (sum, difference * 3.0)
    })?;
    let (expected_sum, expected_difference) = both(&a, &b)?;
    assert_close::<f32>(&numbers(&sum), &numbers(&expected_sum));
    let expected: Vec<f64> = numbers(&expected_difference).iter().map(|x| x * 3.0).collect();
    assert_close::<f32>(&numbers(&difference), &expected);

    let x: Tensor2<f32> = tensor(&device, [3, 4], 1);
    let swapped: Tensor2<f32> = fuse!({
        use activations::swapped;
        swapped(x + 1.0)
    })?;
    assert_eq!(swapped.shape(), [4, 3]);
    let (found, x) = (numbers(&swapped), numbers(&x));
    let expected: Vec<f64> = (0..12).map(|at| x[at % 3 * 4 + at / 3] + 1.0).collect();
    assert_close::<f32>(&found, &expected);
    Ok(())
}

#[test]
fn an_argument_of_another_length_fails_at_launch() {
    let device = device();
    let (a, b): (Tensor1<f32>, Tensor1<f32>) = (tensor(&device, [5], 7), tensor(&device, [1], 8));
    let error = fuse!({
        use both;
        both(a, b)
    })
    .map(|_| ())
    .unwrap_err()
    .to_string();
    assert!(error.contains("argument `b: T[N]` of `both`"), "{error}");
}
