//! [`Device`]: an open adapter and the state that its launches share.

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

/// An open adapter. Clones are cheap and refer to the same device; threads may share it.
///
/// Recorded launches are submitted in batches, before a readback, and by [`submit`](Self::submit) and
/// [`synchronize`](Self::synchronize).
#[derive(Clone)]
pub struct Device {
    pub(crate) inner: Arc<Inner>,
}

/// State of a crate above this one; browser handles stay on their thread.
#[cfg(not(target_arch = "wasm32"))]
type Attached = dyn Any + Send + Sync;
#[cfg(target_arch = "wasm32")]
type Attached = dyn Any;

pub(crate) struct Inner {
    /// First, because rustc gives up on `Send` after 128 levels: this is the shortest way to wgpu's types, and later
    /// fields find their answers cached.
    context: Context,
    pub(crate) plans: PlanCache,
    pub(crate) tunings: Tunings,
    pub(crate) scalars: Mutex<HashMap<(DType, u32), Arc<Lease>>>,
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

    pub(crate) fn plan<S>(&self, function: &Callable, shapes: S) -> Result<Arc<LaunchPlan>, Error>
    where
        S: Iterator<Item = Shape> + Clone,
    {
        let sizes = if self.is_specializing() { Sizes::Constant } else { Sizes::Uniform };
        self.inner.plans.get(&self.context().pipelines, &self.applied(), sizes, function, shapes)
    }

    /// State of a crate above this one, made on first use. One type only.
    ///
    /// # Panics
    /// If a value of another type was attached before.
    #[doc(hidden)]
    pub fn attached<T: Any + WasmNotSendSync + Default>(&self) -> &T {
        let attached: &Attached = &**self.inner.attached.get_or_init(|| Box::new(T::default()));
        attached.downcast_ref().unwrap_or_else(|| panic!("one crate keeps something with a device"))
    }

    /// Features and limits of the adapter.
    pub fn info(&self) -> &DeviceInfo {
        &self.context().info
    }

    /// Hands all recorded work to the GPU without waiting.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Capturing`] within [`capture`](Self::capture), or an error of earlier work that
    /// could not be reported before.
    pub fn submit(&self) -> Result<(), Error> {
        capture::forbid(self.context(), "submitting")?;
        lock(&self.context().recorder).flush();
        self.context().fault.check()
    }

    /// Submits all recorded work and resolves when the GPU is done.
    ///
    /// In browsers this also awaits the compilation of pipelines, with their errors: `device.warm_up(…)?;
    /// device.synchronize().await?`.
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

    /// Blocking form of [`synchronize`](Self::synchronize).
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn synchronize_blocking(&self) -> Result<(), Error> {
        capture::forbid(self.context(), "waiting for the GPU")?;
        let last = lock(&self.context().recorder).flush();
        if !poll(&self.context().wgpu, wgpu::PollType::Wait { submission_index: last, timeout: None }) {
            self.context().fault.lose("the driver failed while waiting for the GPU".into());
        }
        self.context().fault.check()
    }

    /// Bytes and counts of this device's buffers; see also [`reserved_bytes`](Self::reserved_bytes).
    pub fn memory_report(&self) -> MemoryReport {
        self.context().memory_report()
    }

    /// Bytes of driver memory that wgpu reserves for buffers; `None` where not reported, as in browsers.
    ///
    /// Takes time in proportion to the number of buffers. Exceeds the live, idle, freed and staging bytes of
    /// [`memory_report`](Self::memory_report): small buffers share blocks, freed together, and uploads hold wgpu's own
    /// buffers until their batch is done. Programs with changing sizes keep up to twice their peak and 64 MiB for
    /// reuse, until `trim`. Compiled shaders, and the compiler of software adapters, are not included.
    pub fn reserved_bytes(&self) -> Option<u64> {
        self.context().wgpu.generate_allocator_report().map(|report| report.total_reserved_bytes)
    }

    /// Frees all memory that no tensor uses, after submitting recorded work.
    pub fn trim(&self) {
        lock(&self.inner.scalars).clear();
        self.context().trim();
    }

    /// Writes compiled pipelines to disk, where the adapter supports it; dropping the device does, too.
    ///
    /// # Errors
    /// [`Error::CacheFile`] if the file cannot be written.
    pub fn save_pipeline_cache(&self) -> Result<(), Error> {
        self.context().pipelines.save()
    }

    /// Explains how a launch of `function` would run: the variant of each kernel, and why not the others.
    ///
    /// `shapes` has one entry per parameter, empty for scalars. The shape of a quantized tensor is followed by its
    /// number of groups and the words of a scale, 1 or 2.
    ///
    /// # Errors
    /// Those of a launch with such tensors.
    pub fn explain(&self, function: &Function, shapes: &[&[usize]]) -> Result<Explanation, Error> {
        let shapes = shapes.iter().map(|dims| Shape::new(dims)).collect::<Result<Vec<_>, _>>()?;
        explain(function, &shapes, &self.inner.plans.forced(), &self.applied())
    }

    /// Forces the variant with this name in all kernels that have one, for tests and tuning.
    ///
    /// Launches for which it is not legal are [`Error::Variant`].
    pub fn force_variant(&self, name: Option<&str>) {
        self.inner.plans.force(|forced| forced.variant = name.map(Into::into));
    }

    /// Forces this alternative of every function, for tests and tuning.
    ///
    /// 0 is the function itself, `n + 1` entry `n` of [`Function::alternatives`]. Launches that do not support it are
    /// [`Error::Alternative`].
    pub fn force_alternative(&self, index: Option<usize>) {
        self.inner.plans.force(|forced| forced.alternative = index);
    }

    /// Closes the device: later calls with it or its tensors are [`Error::DeviceLost`].
    pub fn destroy(&self) {
        self.context().fault.lose("`Device::destroy` was called".into());
        self.context().wgpu.destroy();
    }

    /// The wgpu device.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.context().wgpu
    }

    #[doc(hidden)]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// True if this thread's launches on `device` run later: in a capture, or in WebNN.
pub fn is_deferred(device: &Device) -> bool {
    capture::is_deferred(device.context())
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.context().info.name).finish()
    }
}
