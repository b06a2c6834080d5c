//! Gradients, and training steps in place, launched and replayed.

use fuse_gpu::{Error, Tensor0, Tensor1, Tensor2, fuse};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::device;

fuse! {
    use fuse_gpu::kernels::optimizers::adamw_matrix;

    /// Logits of a two-layer network with attention between the rows of `x`.
    fn scores(x: f32[B, K], w: f32[K, H], b: f32[H], v: f32[H, C]) -> f32[B, C] {
        let hidden = relu(matmul(x, w) + b);
        matmul(hidden + matmul(softmax(matmul(hidden, transpose(hidden)) / 8.0), hidden), v)
    }

    /// A step of AdamW with all state on the device.
    fn train(
        x: f32[B, K], y: i32[B], count: &mut f32[], w: &mut f32[K, H], wm: &mut f32[K, H], ws: &mut f32[K, H],
        b: &mut f32[H], v: &mut f32[H, C], vm: &mut f32[H, C], vs: &mut f32[H, C],
    ) -> f32 {
        let loss = mean(cross_entropy(scores(x, w, b, v), y));
        let (dw, db, dv) = grad(loss, wrt = [w, b, v]);
        let next = count + 1.0;
        (*w, *wm, *ws) = adamw_matrix(w, dw, wm, ws, 0.01, 0.9, 0.999, 1e-8, 0.01, next);
        (*v, *vm, *vs) = adamw_matrix(v, dv, vm, vs, 0.01, 0.9, 0.999, 1e-8, 0.01, next);
        *b -= 0.1 * db;
        *count = next;
        loss
    }

    #[differentiable(x, w)]
    fn layer(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
        tanh(matmul(x, w))
    }
}

const SIZES: [usize; 4] = [23, 7, 17, 3];

/// In the order of the step's parameters.
struct Training {
    x: Tensor2<f32>,
    y: Tensor1<i32>,
    count: Tensor0<f32>,
    w: [Tensor2<f32>; 3],
    b: Tensor1<f32>,
    v: [Tensor2<f32>; 3],
}

impl Training {
    async fn new() -> Result<Self, Error> {
        let device = &device().await;
        let [batch, features, hidden, classes] = SIZES;
        let matrix = |shape, seed| -> Result<_, Error> {
            Ok([Tensor2::randn(device, shape, seed)?, Tensor2::zeros(device, shape)?, Tensor2::zeros(device, shape)?])
        };
        Ok(Self {
            x: Tensor2::randn(device, [batch, features], 1)?,
            y: Tensor1::from_vec(device, (0..batch).map(|i| (i * i % classes) as i32).collect(), [batch])?,
            count: Tensor0::zeros(device, [])?,
            w: matrix([features, hidden], 2)?,
            b: Tensor1::zeros(device, [hidden])?,
            v: matrix([hidden, classes], 3)?,
        })
    }

    fn step(&mut self) -> Result<Tensor0<f32>, Error> {
        let ([w, wm, ws], [v, vm, vs]) = (&mut self.w, &mut self.v);
        train(&self.x, &self.y, &mut self.count, w, wm, ws, &mut self.b, v, vm, vs)
    }
}

#[wasm_bindgen_test]
async fn a_replayed_training_is_the_launched_one_and_learns() -> Result<(), Error> {
    let (mut launched, mut replayed) = (Training::new().await?, Training::new().await?);
    let mut losses = vec![];
    for _ in 0..60 {
        losses.push(launched.step()?.to_vec().await?[0]);
    }
    assert!(losses[0] > 0.5 && losses[59] < 0.25 * losses[0], "{losses:?}");

    let device = device().await;
    let (sequence, loss) = device.capture(|| replayed.step())?;
    for (number, expected) in losses.into_iter().enumerate() {
        sequence.replay()?;
        assert_eq!(loss.to_vec().await?, [expected], "step {number}");
    }
    assert_eq!(replayed.count.to_vec().await?, [60.0]);
    assert_eq!(replayed.w[0].to_vec().await?, launched.w[0].to_vec().await?);
    assert_eq!(replayed.b.to_vec().await?, launched.b.to_vec().await?);
    Ok(())
}

#[wasm_bindgen_test]
async fn a_pullback_is_what_differences_say() -> Result<(), Error> {
    let device = device().await;
    let x = Tensor2::<f32>::randn(&device, [5, 7], 1)?;
    let w = Tensor2::<f32>::randn(&device, [7, 3], 2)?;
    let g = Tensor2::full(&device, 1.0f32, [5, 3])?;
    let (y, pullback) = layer::pullback(&x, &w)?;
    let (_, dw) = pullback.apply(&g)?;
    let (y, dw, numbers) = (y.to_vec().await?, dw.to_vec().await?, w.to_vec().await?);
    for element in [0, 4, 20] {
        let mut moved = numbers.clone();
        moved[element] += 1e-2;
        let moved = layer(&x, &Tensor2::from_vec(&device, moved, [7, 3])?)?.to_vec().await?;
        let slope: f32 = moved.iter().zip(&y).map(|(moved, y)| moved - y).sum::<f32>() / 1e-2;
        assert!((slope - dw[element]).abs() < 0.05 * (1.0 + dw[element].abs()), "{slope} and {}", dw[element]);
    }
    Ok(())
}
