//! Minimal page: a layer, an activation and a softmax, with every error shown. `cargo xtask web build` limits its size.
#![cfg(target_arch = "wasm32")]

use fuse_gpu::{Device, Error, Tensor1, Tensor2, fuse};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

fuse! {
    fn layer(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }

    fn gate(x: f32[M, N], scale: f32[N]) -> f32[M, N] {
        sigmoid(x * scale)
    }

    fn probabilities(x: f32[M, N]) -> f32[M, N] {
        softmax(x)
    }
}

/// Probabilities of `rows` rows from a small network; each row sums to 1. Scripts get a promise
/// (`wasm_bindgen_futures`).
#[wasm_bindgen]
pub async fn run(rows: usize) -> Result<Vec<f32>, JsError> {
    compute(rows).await.map_err(|error| JsError::new(&error.to_string()))
}

async fn compute(rows: usize) -> Result<Vec<f32>, Error> {
    const WIDTH: usize = 64;
    let device = Device::new().await?;
    let values = |count: usize| (0..count).map(|i| (i % 7) as f32 / 7.0 - 0.5).collect::<Vec<f32>>();
    let x = Tensor2::from_vec(&device, values(rows * WIDTH), [rows, WIDTH])?;
    let w = Tensor2::from_vec(&device, values(WIDTH * WIDTH), [WIDTH, WIDTH])?;
    let b = Tensor1::from_vec(&device, values(WIDTH), [WIDTH])?;
    let hidden = gate(&layer(&x, &w, &b, &x)?, &b)?;
    probabilities(&hidden)?.to_vec().await
}

/// The same with lazy tensors.
#[cfg(feature = "auto")]
#[wasm_bindgen]
pub async fn run_lazily(rows: usize) -> Result<Vec<f32>, JsError> {
    use fuse_gpu::auto::LazyTensor;

    const WIDTH: usize = 64;
    let told = |error: &dyn std::fmt::Display| JsError::new(&error.to_string());
    let lazily = async || -> Result<Vec<f32>, fuse_gpu::auto::Error> {
        let device = Device::new().await?;
        let x = LazyTensor::from(&Tensor2::full(&device, 0.5f32, [rows, WIDTH])?);
        let w = LazyTensor::from(&Tensor2::full(&device, 0.25f32, [WIDTH, WIDTH])?);
        let hidden = (x.matmul(&w)? + &x).relu()?;
        hidden.softmax(-1)?.to_vec().await
    };
    lazily().await.map_err(|error| told(&error))
}
