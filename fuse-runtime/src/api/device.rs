//! A [`Device`]: an open adapter with everything that launches on it share.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use fuse_artifact::{DType, Function};
use wgpu::WasmNotSendSync;

#[cfg(not(target_arch = "wasm32"))]
use crate::context::poll::poll;
use crate::{
    api::capture,
    context::{
        Context,
        callable::Callable,
        error::Error,
        info::DeviceInfo,
        lock::lock,
        pool::{Lease, MemoryReport},
        readback::done,
        shape::Shape,
    },
    plan::{
        cache::PlanCache,
        explain::{Explanation, explain},
        launch_plan::LaunchPlan,
        selection::Sizes,
    },
    tune::tunings::Tunings,
};

/// An open adapter. Cloning is cheap and gives the same device; threads may share it.
///
/// Launches are recorded and submitted in batches. Work is submitted when enough has been recorded, when a
/// tensor is read back, and by [`submit`](Self::submit) and [`synchronize`](Self::synchronize).
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<Inner>,
}

/// A value that a crate above this one keeps with a device. Handles of browsers stay on their thread.
#[cfg(not(target_arch = "wasm32"))]
type Attached = dyn Any + Send + Sync;
/// A value that a crate above this one keeps with a device, on the one thread of a page.
#[cfg(target_arch = "wasm32")]
type Attached = dyn Any;

pub(crate) struct Inner {
    /// First, so that rustc, which asks whether handles are `Send`, meets wgpu's types by the shortest way: it gives up after 128
    /// levels of types.
    context: Context,
    pub(crate) plans: PlanCache,
    pub(crate) tunings: Tunings,
    /// Numbers of the host as rank-0 tensors, by dtype and bits.
    pub(crate) scalars: Mutex<HashMap<(DType, u32), Arc<Lease>>>,
    /// What a crate above this one keeps with the device.
    attached: OnceLock<Box<Attached>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        #[cfg(not(target_arch = "wasm32"))]
        self.context.close();
        // Pipelines and memory go before the device.
        drop(std::mem::take(&mut self.plans));
        drop(std::mem::take(&mut self.scalars));
        drop(self.attached.take());
    }
}

impl Device {
    /// The device of a context.
    pub(crate) fn from_context(context: Context, tunings: Tunings) -> Self {
        let inner = Inner {
            plans: PlanCache::default(),
            tunings,
            scalars: Mutex::default(),
            attached: OnceLock::new(),
            context,
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.inner.context
    }

    /// The plan of a launch with arguments of these shapes.
    pub(crate) fn plan<S>(&self, function: &Callable, shapes: S) -> Result<Arc<LaunchPlan>, Error>
    where
        S: Iterator<Item = Shape> + Clone,
    {
        let sizes = if self.is_specializing() { Sizes::Constant } else { Sizes::Uniform };
        self.inner.plans.get(&self.context().pipelines, &self.applied(), sizes, function, shapes)
    }

    /// What a crate above this one keeps with the device, made when it is first asked for. One type only.
    ///
    /// # Panics
    /// If something of another type was asked for before.
    #[doc(hidden)]
    pub fn attached<T: Any + WasmNotSendSync + Default>(&self) -> &T {
        let attached: &Attached = &**self.inner.attached.get_or_init(|| Box::new(T::default()));
        attached.downcast_ref().unwrap_or_else(|| panic!("one crate keeps something with a device"))
    }

    /// What the device is and can do.
    pub fn info(&self) -> &DeviceInfo {
        &self.context().info
    }

    /// Hands all recorded work to the GPU without waiting for it.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Capturing`] within [`capture`](Self::capture), or an error of earlier work that
    /// had no other place to appear.
    pub fn submit(&self) -> Result<(), Error> {
        capture::forbid(self.context(), "submitting")?;
        lock(&self.context().recorder).flush();
        self.context().fault.check()
    }

    /// Hands all recorded work to the GPU and resolves when it is done. In browsers the pipelines that exist are compiled then, too,
    /// and what was wrong with one of them is the error of this call: `device.warm_up(…)?; device.synchronize().await?`.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn synchronize(&self) -> Result<(), Error> {
        capture::forbid(self.context(), "waiting for the GPU")?;
        self.context().fault.check()?;
        let last = lock(&self.context().recorder).flush();
        done(self.context(), last).await;
        self.context().fault.check()
    }

    /// As [`synchronize`](Self::synchronize), blocking this thread.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn synchronize_blocking(&self) -> Result<(), Error> {
        capture::forbid(self.context(), "waiting for the GPU")?;
        let last = lock(&self.context().recorder).flush();
        // No lock is held while waiting: other threads go on recording.
        if !poll(&self.context().wgpu, wgpu::PollType::Wait { submission_index: last, timeout: None }) {
            self.context().fault.lose("the driver failed while waiting for the GPU".into());
        }
        self.context().fault.check()
    }

    /// Bytes and counts of this device's buffers. The process holds more: see [`reserved_bytes`](Self::reserved_bytes).
    pub fn memory_report(&self) -> MemoryReport {
        self.context().memory_report()
    }

    /// Bytes that wgpu holds of the driver for buffers; `None` where it does not say, as in browsers. Takes as long as there are buffers.
    ///
    /// It is more than the sum of live, idle, freed and staging bytes of [`memory_report`](Self::memory_report). Small buffers share
    /// blocks, which go back when all of their buffers are gone, and uploads pass through buffers of wgpu's own until the batch that
    /// reads them is done. A program whose sizes change in one batch keeps up to twice its peak and 64 MiB, for reuse; `trim` frees
    /// that. The driver's compiled shaders, and on software adapters their compiler, come on top.
    pub fn reserved_bytes(&self) -> Option<u64> {
        self.context().wgpu.generate_allocator_report().map(|report| report.total_reserved_bytes)
    }

    /// Frees all memory that no tensor uses. Submits what is recorded, which may use it.
    pub fn trim(&self) {
        lock(&self.inner.scalars).clear();
        self.context().trim();
    }

    /// Writes the compiled pipelines to disk, where the adapter supports it; also done when the device drops.
    ///
    /// # Errors
    /// [`Error::CacheFile`] if the file cannot be written.
    pub fn save_pipeline_cache(&self) -> Result<(), Error> {
        self.context().pipelines.save()
    }

    /// How a launch of `function` would run for tensors of these shapes (one per parameter, empty for scalars; of a quantized
    /// tensor followed by its number of groups and the words of a scale, 1 or 2): the variant of each kernel, what decided
    /// that, and why others were not chosen.
    ///
    /// # Errors
    /// As a launch with such tensors.
    pub fn explain(&self, function: &Function, shapes: &[&[usize]]) -> Result<Explanation, Error> {
        let shapes = shapes.iter().map(|dims| Shape::new(dims)).collect::<Result<Vec<_>, _>>()?;
        explain(function, &shapes, &self.inner.plans.forced(), &self.applied())
    }

    /// For tests and tuning: from now on, kernels that have a variant with this name use it; kernels that have
    /// none choose as usual. A launch for which the variant's requirements do not hold is [`Error::Variant`].
    pub fn force_variant(&self, name: Option<&str>) {
        self.inner.plans.force(|forced| forced.variant = name.map(Into::into));
    }

    /// For tests and tuning: from now on, every function runs as this alternative (0: the function itself, otherwise
    /// one more than its place in [`Function::alternatives`]). A launch of a function without it, or whose shapes do not
    /// suit it, is [`Error::Alternative`].
    pub fn force_alternative(&self, index: Option<usize>) {
        self.inner.plans.force(|forced| forced.alternative = index);
    }

    /// Gives the device up: this and every later call with it or its tensors is [`Error::DeviceLost`].
    pub fn destroy(&self) {
        self.context().fault.lose("`Device::destroy` was called".into());
        self.context().wgpu.destroy();
    }

    /// The wgpu device, for programs that also use wgpu directly.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.context().wgpu
    }

    #[doc(hidden)]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// Whether launches of this thread on `device` run later: it captures them, or WebNN runs them.
pub fn is_deferred(device: &Device) -> bool {
    capture::is_deferred(device.context())
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.context().info.name).finish()
    }
}
