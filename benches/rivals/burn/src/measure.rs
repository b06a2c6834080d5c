//! Times of Burn, as in our benchmark: iterations back to back, one wait per batch, after a warm-up with autotuning.

use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor};
use burn_cubecl::fusion::FusionCubeRuntime;
use burn_fusion::client::GlobalFusionClient;

#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Batches; their median counts.
    pub(crate) batches: usize,
    /// Least warm-up time.
    pub(crate) warm_up: Duration,
    pub(crate) batch_time: Duration,
}

/// Microseconds of one iteration.
pub(crate) struct Times {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) iterations: u32,
}

#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) device: Device,
    pub(crate) client: GlobalFusionClient<FusionCubeRuntime>,
}

impl Opened {
    pub(crate) fn wait(&self) {
        self.device.sync().expect("the device is lost");
    }

    /// Results live until their operations are submitted: burn-fusion computes nothing that was dropped before.
    fn batch<const D: usize>(&self, iterations: u32, compute: &impl Fn() -> Tensor<D>) -> Duration {
        self.wait();
        let start = Instant::now();
        for _ in 0..iterations {
            let result = compute();
            self.client.sync(|| ());
            drop(result);
        }
        self.wait();
        start.elapsed() / iterations
    }

    pub(crate) fn measure<const D: usize>(&self, effort: Effort, compute: impl Fn() -> Tensor<D>) -> Times {
        self.batch(1, &compute);
        let (start, mut iterations) = (Instant::now(), 1);
        // At least three: an interrupted batch does not end the search early.
        for round in 0.. {
            let one = self.batch(iterations, &compute).as_secs_f64().max(1e-9);
            iterations = (effort.batch_time.as_secs_f64() / one).clamp(1.0, 5000.0) as u32;
            if round >= 2 && start.elapsed() >= effort.warm_up {
                break;
            }
        }
        let mut times: Vec<f64> =
            (0..effort.batches).map(|_| self.batch(iterations, &compute).as_nanos() as f64 / 1e3).collect();
        times.sort_by(f64::total_cmp);
        Times { median: times[times.len() / 2], min: times[0], max: times[times.len() - 1], iterations }
    }
}
