//! `grad`: a network trained with one function per step; gradients against hand-written formulas.

use fuse_gpu::{Device, Error, Tensor1, Tensor2, fuse};

fuse! {
    fn scores(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C]) -> f32[B, C] {
        matmul(tanh(matmul(x, w) + b), v)
    }

    /// The loss, and the weights after a step of gradient descent.
    pub fn step(
        x: f32[B, K], classes: i32[B], w: f32[K, H], b: f32[H], v: f32[H, C], rate: f32,
    ) -> (f32, f32[K, H], f32[H], f32[H, C]) {
        let loss = mean(cross_entropy(scores(x, w, b, v), classes));
        let (dw, db, dv) = grad(loss, wrt = [w, b, v]);
        (loss, w - rate * dw, b - rate * db, v - rate * dv)
    }

    fn classify(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C]) -> i32[B] {
        argmax(scores(x, w, b, v), axis = 1)
    }

    /// Logits of the words that may follow a word.
    fn following(table: f32[V, D], ids: i32[B, S], v: f32[D, V]) -> f32[B, S, V] {
        matmul(embedding(table, ids), v)
    }

    /// The loss of an embedding model, and its table and weights after a step.
    pub fn embedding_step(
        table: f32[V, D], ids: i32[B, S], next: i32[B, S], v: f32[D, V], rate: f32,
    ) -> (f32, f32[V, D], f32[D, V]) {
        let loss = mean(cross_entropy(following(table, ids, v), next));
        let (d_table, dv) = grad(loss, wrt = [table, v]);
        (loss, table - rate * d_table, v - rate * dv)
    }

    /// The gradients of `layer_norm`, for any float.
    fn of_norm<T: Float>(x: T[M, N], gamma: T[N], beta: T[N], dy: T[M, N]) -> (T[M, N], T[N], T[N]) {
        grad(layer_norm(x, gamma, beta), wrt = [x, gamma, beta], cotangent = dy)
    }

    /// The same, hand-written.
    fn of_norm_by_hand(x: f32[M, N], gamma: f32[N], dy: f32[M, N]) -> (f32[M, N], f32[N], f32[N]) {
        let centered = x - mean(x, axis = 1, keepdim = true);
        let inverse = rsqrt(mean(centered * centered, axis = 1, keepdim = true) + 1e-5);
        let unit = centered * inverse;
        let g = dy * gamma;
        let dx = inverse * (g - mean(g, axis = 1, keepdim = true) - unit * mean(g * unit, axis = 1, keepdim = true));
        (dx, sum(dy * unit, axis = 0), sum(dy, axis = 0))
    }
}

const POINTS: usize = 93;
const CLASSES: usize = 3;
const HIDDEN: usize = 37;

fn arms() -> (Vec<f32>, Vec<i32>) {
    let point = |i: usize| {
        let (class, t) = (i % CLASSES, (i / CLASSES) as f32 / (POINTS / CLASSES) as f32);
        let angle = 3.0 * t + class as f32 * 2.0 * std::f32::consts::PI / CLASSES as f32;
        ([(0.2 + t) * angle.cos(), (0.2 + t) * angle.sin()], class as i32)
    };
    let points: Vec<_> = (0..POINTS).map(point).collect();
    (points.iter().flat_map(|(at, _)| *at).collect(), points.iter().map(|(_, class)| *class).collect())
}

fn train(device: &Device, steps: usize) -> Result<(Vec<f32>, usize), Error> {
    let (points, classes) = arms();
    let x = Tensor2::from_vec(device, points, [POINTS, 2])?;
    let targets = Tensor1::from_vec(device, classes.clone(), [POINTS])?;
    let mut w = Tensor2::randn(device, [2, HIDDEN], 1)?;
    let mut b = Tensor1::zeros(device, [HIDDEN])?;
    let mut v = Tensor2::randn(device, [HIDDEN, CLASSES], 2)?;
    let mut losses = vec![];
    for _ in 0..steps {
        let loss;
        (loss, w, b, v) = step(&x, &targets, &w, &b, &v, 0.5)?;
        losses.push(loss.to_vec_blocking()?[0]);
    }
    let found = classify(&x, &w, &b, &v)?.to_vec_blocking()?;
    Ok((losses, found.iter().zip(&classes).filter(|(found, class)| found == class).count()))
}

fn device() -> Device {
    Device::builder().without_pipeline_cache().build_blocking().expect("tests need an adapter")
}

#[test]
fn a_network_learns_and_does_so_the_same_way_twice() {
    let device = device();
    let (losses, right) = train(&device, 150).unwrap();
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    let last = losses[losses.len() - 1];
    assert!(last < 0.5 * losses[0], "from {} to {last}", losses[0]);
    assert!(right * 10 >= POINTS * 9, "{right} of {POINTS} points, loss {last}");
    let (again, _) = train(&device, 20).unwrap();
    assert_eq!(again, losses[..20], "the same bits every time");
}

/// Each word precedes the one three places on; some words occur often, some never.
fn train_embedding(device: &Device, steps: usize) -> Result<Vec<f32>, Error> {
    const WORDS: i32 = 23;
    let text: Vec<i32> = (0..3 * 31).map(|i| (i * i + i / 7) % WORDS).collect();
    let next: Vec<i32> = text.iter().map(|word| (word + 3) % WORDS).collect();
    let [ids, next] = [text, next].map(|words| Tensor2::from_vec(device, words, [3, 31]));
    let (ids, next) = (ids?, next?);
    let mut table = Tensor2::randn(device, [WORDS as usize, 16], 1)?;
    let mut v = Tensor2::randn(device, [16, WORDS as usize], 2)?;
    let mut losses = vec![];
    for _ in 0..steps {
        let loss;
        (loss, table, v) = embedding_step(&table, &ids, &next, &v, 0.5)?;
        losses.push(loss.to_vec_blocking()?[0]);
    }
    Ok(losses)
}

#[test]
fn an_embedding_learns_and_does_so_the_same_way_twice() {
    let device = device();
    let losses = train_embedding(&device, 60).unwrap();
    assert!(losses.iter().all(|loss| loss.is_finite()), "{losses:?}");
    let last = losses[losses.len() - 1];
    assert!(last < 0.2 * losses[0], "from {} to {last}", losses[0]);
    assert_eq!(train_embedding(&device, 10).unwrap(), losses[..10], "the same bits every time");
}

#[test]
fn a_gradient_agrees_with_the_formula() {
    let device = device();
    let (rows, columns) = (7, 53);
    let [x, dy] = [3, 4].map(|seed| Tensor2::randn(&device, [rows, columns], seed).unwrap());
    let [gamma, beta] = [5, 6].map(|seed| Tensor1::randn(&device, [columns], seed).unwrap());
    let found = of_norm(&x, &gamma, &beta, &dy).unwrap();
    let expected = of_norm_by_hand(&x, &gamma, &dy).unwrap();
    let close = |found: Vec<f32>, expected: Vec<f32>| {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-4 * expected.abs().max(1.0), "{found} beside {expected}");
        }
    };
    close(found.0.to_vec_blocking().unwrap(), expected.0.to_vec_blocking().unwrap());
    close(found.1.to_vec_blocking().unwrap(), expected.1.to_vec_blocking().unwrap());
    close(found.2.to_vec_blocking().unwrap(), expected.2.to_vec_blocking().unwrap());
}

#[test]
fn nothing_is_differentiated_over_nothing() {
    let device = device();
    let x = Tensor2::from_vec(&device, vec![], [0, 2]).unwrap();
    let targets = Tensor1::from_vec(&device, Vec::<i32>::new(), [0]).unwrap();
    let w = Tensor2::randn(&device, [2, 5], 1).unwrap();
    let b = Tensor1::zeros(&device, [5]).unwrap();
    let v = Tensor2::randn(&device, [5, 3], 2).unwrap();
    let (loss, ..) = step(&x, &targets, &w, &b, &v, 0.5).unwrap();
    assert!(loss.to_vec_blocking().unwrap()[0].is_nan(), "the mean of nothing");
}
