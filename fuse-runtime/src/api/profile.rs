//! Profiles: GPU times per dispatch.
//!
//! Every profiled dispatch has a pass with timestamps. Neighbors do not overlap: the sum is an upper bound of the
//! unprofiled time.

use std::fmt;

/// Dispatches with their times, in order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The dispatches.
    pub entries: Vec<ProfileEntry>,
}

/// One dispatch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileEntry {
    /// The `fuse!` function.
    pub function: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// The variant that ran.
    pub variant: &'static str,
    /// The pass of the variant, counted from 0.
    pub pass: usize,
    /// Workgroups with work.
    pub workgroups: u32,
    /// Nanoseconds on the GPU.
    pub nanoseconds: u64,
}

impl Profile {
    /// Sum in nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        self.entries.iter().map(|entry| entry.nanoseconds).sum()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.entries.iter().map(|entry| entry.kernel.len()).max().unwrap_or(0).max(6);
        let variant_width = self.entries.iter().map(|entry| entry.variant.len()).max().unwrap_or(0).max(7);
        writeln!(f, "{:<width$}  {:<variant_width$}  pass  workgroups  {:>12}", "kernel", "variant", "GPU time")?;
        for entry in &self.entries {
            let ProfileEntry { kernel, variant, pass, workgroups, nanoseconds, .. } = entry;
            let time = *nanoseconds as f64 / 1e3;
            writeln!(f, "{kernel:<width$}  {variant:<variant_width$}  {pass:>4}  {workgroups:>10}  {time:>9.1} µs")?;
        }
        write!(f, "{} dispatches, {:.1} µs", self.entries.len(), self.nanoseconds() as f64 / 1e3)
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use std::time::Duration;

    use super::{Profile, ProfileEntry};
    use crate::{
        api::{capture, device::Device},
        context::{
            error::Error,
            fault::scoped,
            label::Label,
            lock::lock,
            poll::poll,
            timestamps::{DISPATCHES_PER_SET, Log},
        },
    };

    impl Device {
        /// Runs `work` and returns its result with the GPU time of every dispatch meanwhile, also by other threads.
        ///
        /// # Errors
        /// [`Error::MissingFeature`] if the adapter has no timestamps, [`Error::ProfileActive`] within another profile,
        /// [`Error::Capturing`] within [`Device::capture`], and errors of the work itself.
        pub fn profile<R>(&self, work: impl FnOnce() -> R) -> Result<(R, Profile), Error> {
            self.take_profile(work, false)
        }

        /// Runs `work` and returns its result with the GPU time meanwhile, also of other threads.
        ///
        /// Dispatches share passes, as they do unprofiled.
        ///
        /// # Errors
        /// Those of [`Device::profile`].
        pub fn gpu_time<R>(&self, work: impl FnOnce() -> R) -> Result<(R, Duration), Error> {
            let (result, passes) = self.take_profile(work, true)?;
            Ok((result, Duration::from_nanos(passes.nanoseconds())))
        }

        fn take_profile<R>(&self, work: impl FnOnce() -> R, shares_passes: bool) -> Result<(R, Profile), Error> {
            if !self.info().timestamps {
                return Err(Error::MissingFeature {
                    what: "`Device::profile`".into(),
                    feature: "timestamp queries",
                    adapter: self.info().name.clone(),
                });
            }
            self.context().fault.check()?;
            capture::forbid(self.context(), "profiling")?;
            let guard = LogGuard::start(self, shares_passes)?;
            let result = work();
            let log = guard.stop();
            self.context().fault.check()?;
            Ok((result, self.read_log(&log)?))
        }

        fn read_log(&self, log: &Log) -> Result<Profile, Error> {
            let context = self.context();
            let set_bytes = 16 * DISPATCHES_PER_SET as u64;
            let bytes = set_bytes * log.sets.len() as u64;
            if bytes == 0 {
                return Ok(Profile::default());
            }
            let buffer = |usage| {
                let descriptor =
                    wgpu::BufferDescriptor { label: Some("timestamps"), size: bytes, usage, mapped_at_creation: false };
                scoped(&context.wgpu, || context.wgpu.create_buffer(&descriptor))
            };
            let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC)?;
            let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
            let submission_index = {
                let mut recorder = lock(&context.recorder);
                let encoder = recorder.outside_pass();
                let mut left = log.dispatches.len();
                for (i, set) in log.sets.iter().enumerate() {
                    let queries = 2 * left.min(DISPATCHES_PER_SET);
                    left -= queries / 2;
                    encoder.resolve_query_set(set, 0..queries as u32, &resolved, i as u64 * set_bytes);
                }
                encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, bytes);
                recorder.flush()
            };
            staging.map_async(wgpu::MapMode::Read, .., |_| {});
            if !poll(&context.wgpu, wgpu::PollType::Wait { submission_index, timeout: None }) {
                context.fault.lose("the driver failed while waiting for the GPU".into());
            }
            context.fault.check()?;
            let view = staging
                .get_mapped_range(..)
                .map_err(|_| Error::Readback { message: "the driver did not map the timestamps".into() })?;
            let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&view);
            Ok(log.profile(&stamps, context.queue.get_timestamp_period()))
        }
    }

    impl Log {
        fn profile(&self, stamps: &[u64], period: f32) -> Profile {
            let entry = |(i, (label, workgroups)): (usize, &(Label, u32))| ProfileEntry {
                function: label.function,
                kernel: label.kernel,
                variant: label.variant,
                pass: label.pass,
                workgroups: *workgroups,
                nanoseconds: (stamps[2 * i + 1].saturating_sub(stamps[2 * i]) as f64 * f64::from(period)) as u64,
            };
            Profile { entries: self.dispatches.iter().enumerate().map(entry).collect() }
        }
    }

    /// Ends the profile, also after panics.
    struct LogGuard<'a> {
        device: &'a Device,
    }

    impl<'a> LogGuard<'a> {
        fn start(device: &'a Device, shares_passes: bool) -> Result<Self, Error> {
            let mut recorder = lock(&device.context().recorder);
            if recorder.log.is_some() {
                return Err(Error::ProfileActive);
            }
            recorder.flush();
            recorder.log = Some(Log { shares_passes, ..Log::default() });
            Ok(Self { device })
        }

        fn stop(self) -> Log {
            let mut recorder = lock(&self.device.context().recorder);
            // A shared pass must not extend into later work.
            recorder.flush();
            recorder.log.take().unwrap_or_default()
        }
    }

    impl Drop for LogGuard<'_> {
        fn drop(&mut self) {
            lock(&self.device.context().recorder).log = None;
        }
    }
}
