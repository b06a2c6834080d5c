//! Times several ways to compute the same, interleaved.
//!
//! Pages learn late that work is done. So a round launches many times between two waits, and the wait's own latency is
//! measured first and subtracted.

use std::time::Duration;

use fuse_gpu::{Device, Error};
use web_time::Instant;

pub(crate) const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(40);
/// Launches are recorded before the first one runs.
const MAX_LAUNCHES: f64 = 1000.0;
/// Growth of a batch until launches take longer than their wait.
const GROWTH: usize = 4;
const EMPTY_WAITS: usize = 5;

/// Milliseconds per launch.
pub(crate) struct Times {
    pub(crate) samples: Vec<f64>,
}

impl Times {
    pub(crate) fn median(&self) -> f64 {
        let mut samples = self.samples.clone();
        samples.sort_by(f64::total_cmp);
        samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

pub(crate) type Way<'a> = &'a dyn Fn() -> Result<(), Error>;

/// `done` gets the number of finished rounds, and `rounds`.
///
/// # Errors
/// Those of the launches, and of waiting for them.
pub(crate) async fn race<const N: usize>(
    device: &Device,
    ways: [Way<'_>; N],
    mut done: impl FnMut(usize, usize),
) -> Result<[Times; N], Error> {
    let total = ROUNDS + 1;
    done(0, total);
    let mut late = f64::INFINITY;
    device.synchronize().await?;
    for _ in 0..EMPTY_WAITS {
        late = late.min(time(device, &|| Ok(()), 1, 0.0).await?);
    }
    let mut launches = [1; N];
    for (launches, way) in launches.iter_mut().zip(ways) {
        // Warm-up: compiles pipelines and touches memory.
        time(device, way, 1, late).await?;
        let mut single = time(device, way, 1, late).await?;
        // Few short launches measure mostly the wait, so the batch grows until launches dominate.
        let wanted = |single: f64| (ROUND.as_secs_f64() * 1e3 / single.max(1e-6)).clamp(1.0, MAX_LAUNCHES) as usize;
        while *launches * GROWTH < wanted(single) {
            *launches *= GROWTH;
            single = single.min(time(device, way, *launches, late).await?);
        }
        *launches = wanted(single);
    }
    done(1, total);
    let mut times = [const { Times { samples: Vec::new() } }; N];
    for round in 1..=ROUNDS {
        for ((times, way), launches) in times.iter_mut().zip(ways).zip(launches) {
            times.samples.push(time(device, way, launches, late).await?);
        }
        done(round + 1, total);
    }
    Ok(times)
}

/// Milliseconds per launch; `late` is the wait's latency.
async fn time(device: &Device, way: Way<'_>, launches: usize, late: f64) -> Result<f64, Error> {
    let start = Instant::now();
    (0..launches).try_for_each(|_| way())?;
    device.synchronize().await?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    Ok((milliseconds - late).max(milliseconds / 20.0) / launches as f64)
}
