//! Chain of dependent launches, recorded each time or replayed.

use fuse_gpu::{Device, Sequence, Tensor1, fuse};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::Bench;

fuse! {
    /// One of the chain.
    pub fn step(x: f32[N], b: f32[N]) -> f32[N] {
        relu(x + b)
    }
}

/// Chain on vectors of the same length.
#[wasm_bindgen]
pub struct Chain {
    device: Device,
    x: Tensor1<f32>,
    b: Tensor1<f32>,
    captured: Sequence,
    result: Tensor1<f32>,
}

#[wasm_bindgen]
impl Bench {
    /// Captures `launches` that each add `b`, from 0.
    pub fn chain(&self, launches: usize, b: Vec<f32>) -> Result<Chain, JsError> {
        let device = self.device.clone();
        let x = Tensor1::zeros(&device, [b.len()])?;
        let shape = [b.len()];
        let b = Tensor1::from_vec(&device, b, shape)?;
        let (captured, result) = device.capture(|| (0..launches).try_fold(x.clone(), |x, _| step(&x, &b)))?;
        Ok(Chain { device, x, b, captured, result })
    }
}

#[wasm_bindgen]
impl Chain {
    /// Records and submits the launches.
    pub fn launch(&self, launches: usize) -> Result<(), JsError> {
        (0..launches).try_fold(self.x.clone(), |x, _| step(&x, &self.b))?;
        Ok(self.device.submit()?)
    }

    /// Replays and submits the captured launches.
    pub fn replay(&self) -> Result<(), JsError> {
        self.captured.replay()?;
        Ok(self.device.submit()?)
    }

    /// Result of the last replay.
    pub async fn values(&self) -> Result<Vec<f32>, JsError> {
        Ok(self.result.to_vec().await?)
    }
}
