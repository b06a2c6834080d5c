//! How long a launch takes: batches queued back to back, one wait each, after a warm-up.
//!
//! A GPU lowers its clocks when it idles and raises them only under load, so every case is warmed up right
//! before it is measured, and pipelines are compiled before that.

use std::time::{Duration, Instant};

use fuse_gpu::{Device, Error, Profile};

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Batches, of which the median counts.
    pub(crate) batches: usize,
    /// Least time of launches before the first batch.
    pub(crate) warm_up: Duration,
    /// Intended time of a batch.
    pub(crate) batch_time: Duration,
}

impl Effort {
    /// For numbers that are quoted.
    pub(crate) const FULL: Self =
        Self { batches: 9, warm_up: Duration::from_millis(300), batch_time: Duration::from_millis(60) };
    /// For a look.
    pub(crate) const QUICK: Self =
        Self { batches: 7, warm_up: Duration::from_millis(50), batch_time: Duration::from_millis(20) };
}

/// The time of one launch, over batches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The median.
    pub(crate) median: Duration,
    /// The fastest.
    pub(crate) min: Duration,
    /// The slowest.
    pub(crate) max: Duration,
    /// Launches per batch.
    pub(crate) launches: u32,
}

/// Largest number of launches of a batch: keeps the queue of a slow driver short.
const MAX_LAUNCHES: f64 = 5_000.0;

/// Measures `launch`. `wait` returns when the device has done everything that was queued.
pub(crate) fn measure(
    effort: Effort,
    mut launch: impl FnMut() -> Result<(), Error>,
    mut wait: impl FnMut() -> Result<(), Error>,
) -> Result<Times, Error> {
    let mut batch = |launches: u32| -> Result<Duration, Error> {
        let start = Instant::now();
        for _ in 0..launches {
            launch()?;
        }
        wait()?;
        Ok(start.elapsed() / launches)
    };
    batch(1)?;
    let start = Instant::now();
    let mut launches = 1;
    loop {
        let one = batch(launches)?.as_secs_f64().max(1e-9);
        launches = (effort.batch_time.as_secs_f64() / one).clamp(1.0, MAX_LAUNCHES) as u32;
        if start.elapsed() >= effort.warm_up {
            break;
        }
    }
    let mut times = (0..effort.batches).map(|_| batch(launches)).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(Times { median: times[times.len() / 2], min: times[0], max: times[times.len() - 1], launches })
}

/// What GPU timestamps say about a launch.
pub(crate) struct Profiled {
    /// The variants that ran, in order.
    pub(crate) variants: String,
    /// The sum over the dispatches of one launch, each alone on the GPU: the median of some launches.
    pub(crate) time: Duration,
}

/// Launches that are profiled.
const PROFILED: usize = 7;

/// Profiles `launch`, right after it was measured; `None` where the adapter has no timestamps.
pub(crate) fn profile(device: &Device, launch: impl Fn() -> Result<(), Error>) -> Result<Option<Profiled>, Error> {
    if !device.info().timestamps {
        return Ok(None);
    }
    let (outcome, profile) = device.profile(|| (0..PROFILED).try_for_each(|_| launch()))?;
    outcome?;
    Ok(summarize(&profile))
}

/// The variants and the median time of one launch among [`PROFILED`]; `None` if nothing ran.
fn summarize(profile: &Profile) -> Option<Profiled> {
    let dispatches = profile.entries.len() / PROFILED;
    let launches = profile.entries.get(..dispatches * PROFILED)?.chunks(dispatches.max(1));
    let mut times: Vec<u64> = launches.map(|launch| launch.iter().map(|entry| entry.nanoseconds).sum()).collect();
    times.sort_unstable();
    let variants = profile.entries[..dispatches].iter().filter(|entry| entry.pass == 0).map(|entry| entry.variant);
    Some(Profiled {
        variants: variants.collect::<Vec<_>>().join(" + "),
        time: Duration::from_nanos(*times.get(PROFILED / 2)?),
    })
}
