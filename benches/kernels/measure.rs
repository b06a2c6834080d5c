//! Measures launches: batches queued back to back, one wait each.
//!
//! A GPU raises its clocks only under load, so a case is warmed up right before, with pipelines compiled.

use std::time::{Duration, Instant};

use fuse_gpu::{Device, Error};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Batches; their median counts.
    pub(crate) batches: usize,
    /// Least warm-up time.
    pub(crate) warm_up: Duration,
    pub(crate) batch_time: Duration,
}

impl Effort {
    pub(crate) const FULL: Self =
        Self { batches: 9, warm_up: Duration::from_millis(300), batch_time: Duration::from_millis(60) };
    pub(crate) const QUICK: Self =
        Self { batches: 7, warm_up: Duration::from_millis(50), batch_time: Duration::from_millis(20) };
}

pub(crate) fn micros(time: Duration) -> f64 {
    // Whole nanoseconds, the resolution of clocks.
    time.as_nanos() as f64 / 1e3
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) median: Duration,
    pub(crate) min: Duration,
    pub(crate) max: Duration,
    pub(crate) launches: u32,
}

impl Times {
    pub(crate) fn of(mut times: Vec<Duration>, launches: u32) -> Self {
        times.sort();
        Self { median: times[times.len() / 2], min: times[0], max: times[times.len() - 1], launches }
    }

    pub(crate) fn per(&mut self, parts: u32) {
        [&mut self.median, &mut self.min, &mut self.max].into_iter().for_each(|time| *time /= parts);
        self.launches *= parts;
    }
}

/// Keeps the queue of a slow driver short.
const MAX_LAUNCHES: f64 = 5_000.0;

/// Time per launch, with one wait for all.
pub(crate) fn queued(
    launches: u32,
    mut launch: impl FnMut() -> Result<(), Error>,
    wait: impl FnOnce() -> Result<(), Error>,
) -> Result<Duration, Error> {
    let start = Instant::now();
    (0..launches).try_for_each(|_| launch())?;
    wait()?;
    Ok(start.elapsed() / launches)
}

/// As [`queued`], by GPU timestamps, if available.
pub(crate) fn on_gpu(
    device: &Device,
    launches: u32,
    mut launch: impl FnMut() -> Result<(), Error>,
) -> Result<Duration, Error> {
    let (outcome, time) = device.gpu_time(|| (0..launches).try_for_each(|_| launch()))?;
    outcome?;
    Ok(time / launches)
}

/// `wait` returns when the device has done everything queued.
pub(crate) fn measure(
    effort: Effort,
    mut launch: impl FnMut() -> Result<(), Error>,
    mut wait: impl FnMut() -> Result<(), Error>,
) -> Result<Times, Error> {
    let mut batch = |launches| queued(launches, &mut launch, &mut wait);
    let launches = calibrate(effort, &mut batch)?;
    Ok(Times::of((0..effort.batches).map(|_| batch(launches)).collect::<Result<Vec<_>, _>>()?, launches))
}

/// Warms up, and returns the launches per intended batch time. `batch` returns the time of one launch.
pub(crate) fn calibrate<E>(effort: Effort, mut batch: impl FnMut(u32) -> Result<Duration, E>) -> Result<u32, E> {
    batch(1)?;
    let start = Instant::now();
    let mut launches = 1;
    loop {
        let one = batch(launches)?.as_secs_f64().max(1e-9);
        launches = (effort.batch_time.as_secs_f64() / one).clamp(1.0, MAX_LAUNCHES) as u32;
        if start.elapsed() >= effort.warm_up {
            return Ok(launches);
        }
    }
}

pub(crate) struct Profiled {
    pub(crate) variants: String,
    /// Median over batches.
    pub(crate) time: Duration,
}

/// `None` without timestamps.
pub(crate) fn profile(
    device: &Device,
    effort: Effort,
    launches: u32,
    launch: impl Fn() -> Result<(), Error>,
) -> Result<Option<Profiled>, Error> {
    if !device.info().timestamps {
        return Ok(None);
    }
    let times = (0..effort.batches).map(|_| on_gpu(device, launches, &launch)).collect::<Result<Vec<_>, _>>()?;
    let (outcome, profile) = device.profile(&launch)?;
    outcome?;
    let variants = profile.entries.iter().filter(|entry| entry.pass == 0).map(|entry| entry.variant);
    Ok(Some(Profiled { variants: joined(&variants.collect::<Vec<_>>()), time: Times::of(times, launches).median }))
}

/// As `a + b`, or `3 × (a + b)`.
pub(crate) fn joined(variants: &[&str]) -> String {
    let count = variants.len();
    let repeats =
        |period: usize| count.is_multiple_of(period) && variants.chunks(period).all(|c| *c == variants[..period]);
    match (1..count).find(|&period| repeats(period)) {
        Some(period) => format!("{} × ({})", count / period, variants[..period].join(" + ")),
        None => variants.join(" + "),
    }
}
