//! `#[differentiable]`: layers stacked by a Rust loop, trained through `pullback`, against a step in one function.

use fuse_gpu::{
    __private::reference::Value, Device, Element, Error, Q8, QTensor, QuantScheme, Tensor, Tensor0, Tensor1, Tensor2,
    f16, fuse,
};

mod activations {
    use fuse_gpu::fuse;

    fuse! {
        pub fn soft(x: f32[M, N]) -> f32[M, N] {
            tanh(x)
        }
    }
}

fuse! {
    use crate::differentiable::activations::soft;

    #[differentiable]
    pub fn layer(x: f32[B, H], w: f32[H, H], b: f32[H]) -> f32[B, H] {
        x + soft(matmul(x, w) + b)
    }

    /// The loss of the logits in the first three columns.
    #[differentiable(h)]
    fn loss(h: f32[B, H], classes: i32[B]) -> f32 {
        mean(cross_entropy(slice(h, axis = 1, start = 0, end = 3), classes))
    }

    fn step_of_two(
        x: f32[B, H], classes: i32[B], w1: f32[H, H], b1: f32[H], w2: f32[H, H], b2: f32[H], rate: f32,
    ) -> (f32, f32[H, H], f32[H], f32[H, H], f32[H]) {
        let y = loss(layer(layer(x, w1, b1), w2, b2), classes);
        let (dw1, db1, dw2, db2) = grad(y, wrt = [w1, b1, w2, b2]);
        (y, w1 - rate * dw1, b1 - rate * db1, w2 - rate * dw2, b2 - rate * db2)
    }
}

const POINTS: usize = 60;
const WIDTH: usize = 13;
const RATE: f32 = 0.5;

type Layer = (Tensor2<f32>, Tensor1<f32>);

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

fn data(device: &Device) -> Result<(Tensor2<f32>, Tensor1<i32>), Error> {
    let x = Tensor2::randn(device, [POINTS, WIDTH], 7)?;
    let of = |row: &[f32]| (0..3).max_by(|&a, &b| row[3 + a].total_cmp(&row[3 + b])).unwrap_or(0) as i32;
    let classes = x.to_vec_blocking()?.chunks(WIDTH).map(of).collect();
    Ok((x, Tensor1::from_vec(device, classes, [POINTS])?))
}

fn layers(device: &Device, depth: usize) -> Result<Vec<Layer>, Error> {
    let layer = |i: usize| {
        let w = Tensor2::randn(device, [WIDTH, WIDTH], 20 + i as u64)?;
        Ok((fuse!(w * 0.2)?, Tensor1::zeros(device, [WIDTH])?))
    };
    (0..depth).map(layer).collect()
}

/// Returns the loss before the step.
fn step(x: &Tensor2<f32>, classes: &Tensor1<i32>, layers: &mut [Layer]) -> Result<Tensor0<f32>, Error> {
    let mut h = x.clone();
    let mut pullbacks = vec![];
    for (w, b) in layers.iter() {
        let (next, pullback) = layer::pullback(&h, w, b)?;
        pullbacks.push(pullback);
        h = next;
    }
    let (value, mut dh) = loss::value_and_grad(&h, classes)?;
    for ((w, b), pullback) in layers.iter_mut().zip(pullbacks).rev() {
        let (dx, dw, db) = pullback.apply(&dh)?;
        (*w, *b) = (fuse!(w - RATE * dw)?, fuse!(b - RATE * db)?);
        dh = dx;
    }
    Ok(value)
}

fn close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{found} beside {expected}");
    }
}

fn close_to_value<T: Element + Into<f64>, const D: usize>(found: &Tensor<T, D>, expected: &Value, tolerance: f64) {
    assert_eq!(found.shape(), *expected.shape);
    for (found, expected) in found.to_vec_blocking().unwrap().into_iter().zip(&expected.data) {
        let found: f64 = found.into();
        assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} beside {expected}");
    }
}

#[test]
fn layers_that_a_loop_stacks_learn() {
    let device = device();
    let (x, classes) = data(&device).unwrap();
    for depth in [1, 3] {
        let mut layers = layers(&device, depth).unwrap();
        let losses: Vec<f32> =
            (0..60).map(|_| step(&x, &classes, &mut layers).unwrap().to_vec_blocking().unwrap()[0]).collect();
        assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
        assert!(losses[59] < 0.5 * losses[0], "depth {depth}: from {} to {}", losses[0], losses[59]);
    }
}

#[test]
fn a_loop_of_layers_agrees_with_one_function() {
    let device = device();
    let (x, classes) = data(&device).unwrap();
    let mut stacked = layers(&device, 2).unwrap();
    let [(mut w1, mut b1), (mut w2, mut b2)] =
        <[Layer; 2]>::try_from(stacked.clone()).unwrap_or_else(|_| unreachable!());
    for _ in 0..5 {
        let found = step(&x, &classes, &mut stacked).unwrap();
        let expected;
        (expected, w1, b1, w2, b2) = step_of_two(&x, &classes, &w1, &b1, &w2, &b2, RATE).unwrap();
        close(&found.to_vec_blocking().unwrap(), &expected.to_vec_blocking().unwrap());
    }
    for ((w, b), (expected_w, expected_b)) in stacked.iter().zip([(w1, b1), (w2, b2)]) {
        close(&w.to_vec_blocking().unwrap(), &expected_w.to_vec_blocking().unwrap());
        close(&b.to_vec_blocking().unwrap(), &expected_b.to_vec_blocking().unwrap());
    }
}

fuse! {
    /// Several results, one of them without a cotangent, for any float.
    #[differentiable(x, w)]
    fn parts<T: Float>(x: T[M, K], w: T[K, N], scale: f32) -> (T[M, N], i32[M], T[M]) {
        let y = tanh(matmul(x, w) * (scale as T));
        (y, argmax(y, axis = 1), sum(y * y, axis = 1))
    }

    #[differentiable(x)]
    fn through_quantized(x: f32[M, K], w: q8[K, N]) -> f32[M, N] {
        gelu(matmul(x, w))
    }

    /// The gradient depends only on the argument's shape.
    #[differentiable]
    fn total(x: f32[M, N]) -> f32 {
        2.0 * sum(x)
    }

    /// The gradient depends only on the cotangent.
    #[differentiable]
    fn twice(x: f32[M, N]) -> f32[M, N] {
        2.0 * x
    }

    #[differentiable]
    fn attention(q: f32[H, S, D], k: f32[H, S, D], v: f32[H, S, D]) -> f32[H, S, D] {
        matmul(softmax(matmul(q, transpose(k)) / sqrt(D as f32)), v)
    }
}

#[test]
fn every_form_agrees_with_the_interpreter() {
    fn check<T: fuse_gpu::Float + Into<f64>>(device: &Device, tolerance: f64) {
        let random = |shape: [usize; 2], seed: u64| -> Tensor<T, 2> {
            let values = Tensor2::<f32>::randn(device, shape, seed).unwrap().to_vec_blocking().unwrap();
            Tensor::from_vec(device, values.into_iter().map(|x| T::from_f32(0.5 * x)).collect(), shape).unwrap()
        };
        let (x, w, g) = (random([5, 7], 1), random([7, 3], 2), random([5, 3], 3));
        let h = Tensor1::from_vec(device, (0..5).map(|i| T::from_f32(i as f32 * 0.25)).collect(), [5]).unwrap();
        let [dx, dw] = parts::vjp::reference(&x, &w, 0.75, &g, &h).unwrap();
        let (found_x, found_w) = parts::vjp(&x, &w, 0.75, &g, &h).unwrap();
        close_to_value(&found_x, &dx, tolerance);
        close_to_value(&found_w, &dw, tolerance);
        let ((y, places, squares), pullback) = parts::pullback(&x, &w, 0.75).unwrap();
        let [expected_y, expected_places, expected_squares] = parts::reference(&x, &w, 0.75).unwrap();
        close_to_value(&y, &expected_y, tolerance);
        close_to_value(&places, &expected_places, 0.0);
        close_to_value(&squares, &expected_squares, tolerance);
        // Repeated, also from a clone that outlives the original.
        let first = pullback.apply(&g, &h).unwrap();
        let copy = pullback.clone();
        drop((pullback, y, squares));
        let second = copy.apply(&g, &h).unwrap();
        close_to_value(&first.0, &dx, tolerance);
        close_to_value(&first.1, &dw, tolerance);
        assert_eq!(first.0.to_vec_blocking().unwrap(), second.0.to_vec_blocking().unwrap());
        assert_eq!(first.1.to_vec_blocking().unwrap(), second.1.to_vec_blocking().unwrap());
    }
    let device = device();
    check::<f32>(&device, 1e-5);
    check::<f16>(&device, 1e-2);
}

#[test]
fn quantized_weights_and_what_needs_little() {
    let device = device();
    let x = Tensor2::randn(&device, [4, 64], 1).unwrap();
    let values: Vec<f32> = (0..64 * 5).map(|i| ((i * 37 % 64) as f32 - 31.5) / 64.0).collect();
    let w = QTensor::<Q8, 2>::quantize(&device, &values, [64, 5], &QuantScheme::symmetric()).unwrap();
    let g = Tensor2::randn(&device, [4, 5], 2).unwrap();
    let [expected] = through_quantized::vjp::reference(&x, &w, &g).unwrap();
    close_to_value(&through_quantized::vjp(&x, &w, &g).unwrap(), &expected, 1e-4);
    let (_, pullback) = through_quantized::pullback(&x, &w).unwrap();
    close_to_value(&pullback.apply(&g).unwrap(), &expected, 1e-4);

    let (value, pullback) = total::pullback(&x).unwrap();
    let (again, gradient) = total::value_and_grad(&x).unwrap();
    assert_eq!(value.to_vec_blocking().unwrap(), again.to_vec_blocking().unwrap());
    assert_eq!(gradient.to_vec_blocking().unwrap(), vec![2.0; 4 * 64]);
    let three = Tensor0::from_vec(&device, vec![3.0], []).unwrap();
    assert_eq!(pullback.apply(&three).unwrap().to_vec_blocking().unwrap(), vec![6.0; 4 * 64]);

    let mut into = Tensor2::zeros(&device, [4, 64]).unwrap();
    twice::vjp::launch_into(&x, &x, &mut into).unwrap();
    let expected: Vec<f32> = x.to_vec_blocking().unwrap().into_iter().map(|x| 2.0 * x).collect();
    assert_eq!(into.to_vec_blocking().unwrap(), expected);

    let empty = Tensor2::<f32>::from_vec(&device, vec![], [0, 3]).unwrap();
    let (_, pullback) = twice::pullback(&empty).unwrap();
    assert_eq!(pullback.apply(&empty).unwrap().shape(), [0, 3]);
}

#[test]
fn an_attention_stays_one_kernel_and_keeps_no_scores() {
    assert_eq!(attention::pullback::PLAN.groups.len(), 1, "{}", attention::pullback::PLAN);
    assert_eq!(attention::pullback::FUNCTION.results.len(), 1, "nothing but the result is kept");
    let device = device();
    let [q, k, v, g] = [1, 2, 3, 4].map(|seed| fuse_gpu::Tensor3::randn(&device, [2, 9, 8], seed).unwrap());
    let [dq, dk, dv] = attention::vjp::reference(&q, &k, &v, &g).unwrap();
    let found = attention::pullback(&q, &k, &v).unwrap().1.apply(&g).unwrap();
    close_to_value(&found.0, &dq, 1e-4);
    close_to_value(&found.1, &dk, 1e-4);
    close_to_value(&found.2, &dv, 1e-4);
}

#[test]
fn plans_are_there_to_read() {
    assert!(layer::vjp::PLAN.to_string().starts_with("layer::vjp("), "{}", layer::vjp::PLAN);
    assert!(loss::value_and_grad::PLAN.to_string().starts_with("loss::value_and_grad("));
    assert!(layer::pullback::PLAN.to_string().starts_with("layer::pullback("));
    assert!(layer::pullback::apply::PLAN.to_string().starts_with("layer::pullback::apply("));
    assert!(!parts::pullback::apply::KERNELS.is_empty());
    assert_eq!(parts::vjp::function::<f32>().results.len(), 2);
}

#[test]
fn a_cotangent_of_another_shape_is_an_error() {
    let device = device();
    let x = Tensor2::<f32>::randn(&device, [3, 5], 1).unwrap();
    let wrong = Tensor2::<f32>::randn(&device, [3, 4], 2).unwrap();
    let message = |error: Error| error.to_string();
    let error = twice::vjp(&x, &wrong).map(drop).map_err(message).unwrap_err();
    let expected = "kernel `twice::vjp`, argument `cotangent`, axis 1 (`N`): expected 5 (from `x`, axis 1), found 4";
    assert_eq!(error, expected);
    // No saved value has this shape.
    let (_, pullback) = twice::pullback(&x).unwrap();
    let error = pullback.apply(&wrong).map(drop).map_err(message).unwrap_err();
    let expected = "kernel `twice::pullback::apply`, argument `cotangent`, axis 1 (`N`): expected 5 (from result 0, axis 1), found 4";
    assert_eq!(error, expected);
    let w = Tensor2::<f32>::randn(&device, [4, 4], 3).unwrap();
    let b = Tensor1::<f32>::zeros(&device, [4]).unwrap();
    assert!(layer::pullback(&x, &w, &b).is_err(), "arguments are checked as those of `layer`");
    let other = self::device();
    let elsewhere = Tensor2::<f32>::randn(&other, [3, 5], 1).unwrap();
    let ((y, ..), pullback) = parts::pullback(&x, &Tensor2::<f32>::randn(&device, [5, 5], 4).unwrap(), 1.0).unwrap();
    let h = Tensor1::<f32>::zeros(&device, [3]).unwrap();
    assert_eq!(y.shape(), [3, 5]);
    assert!(matches!(pullback.apply(&elsewhere, &h), Err(Error::DifferentDevices { .. })));
}
