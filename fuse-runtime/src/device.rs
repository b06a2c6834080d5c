//! A [`Device`]: an open adapter with everything that launches on it share.

use std::{
    any::Any,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, OnceLock},
};

use fuse_artifact::{DType, Function};
use wgpu::WasmNotSendSync;

use crate::{
    DeviceBuilder, DeviceInfo, Error, Explanation, MemoryReport,
    adapters::adapters,
    builder::describe,
    capture,
    checked::{Checks, SharedChecks},
    element::scalar_bytes,
    fault::Fault,
    lock::lock,
    pipeline::Pipelines,
    plan::PlanCache,
    pool::{Batches, Lease, Pool, Storage},
    raw::RawTensor,
    record::Recorder,
    shape::Shape,
    tune::Tunings,
    upload::{Source, upload},
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
    pub(crate) recorder: Mutex<Recorder>,
    pub(crate) plans: PlanCache,
    pub(crate) tunings: Tunings,
    pub(crate) pipelines: Pipelines,
    /// Numbers of the host as rank-0 tensors, by dtype and bits.
    scalars: Mutex<HashMap<(DType, u32), Arc<Lease>>>,
    pub(crate) pool: Arc<Pool>,
    /// Buffers that the host maps to read.
    pub(crate) staging: Arc<Pool>,
    pub(crate) fault: Arc<Fault>,
    pub(crate) checks: Option<SharedChecks>,
    /// What a crate above this one keeps with the device.
    attached: OnceLock<Box<Attached>>,
    pub(crate) info: DeviceInfo,
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) poller: crate::poller::Poller,
    pub(crate) queue: wgpu::Queue,
    pub(crate) wgpu: wgpu::Device,
    /// Taken when everything before it is about to be dropped, and given back when it is.
    #[cfg(not(target_arch = "wasm32"))]
    closing: Option<crate::driver_lock::Closing>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Inner {
    fn drop(&mut self) {
        self.closing = Some(crate::driver_lock::closing());
    }
}

impl Inner {
    /// At least `bytes` bytes of storage, and whether they hold zeros. The caller does not hold the recorder.
    pub(crate) fn take(&self, bytes: u64) -> Result<(Storage, bool), Error> {
        let (storage, fresh) = self.pool.take(bytes, &mut || self.submit())?;
        if self.checks.is_some() {
            lock(&self.recorder).poison(&storage);
            return Ok((storage, false));
        }
        Ok((storage, fresh))
    }

    /// Submits the open batch.
    pub(crate) fn submit(&self) {
        lock(&self.recorder).flush();
    }
}

/// Distinct scalars that are kept as tensors.
const MAX_SCALARS: usize = 1024;

impl Device {
    /// Opens the best adapter: the one that `FUSE_ADAPTER` names (a part of its name is enough), else a discrete
    /// GPU before an integrated one before a software rasterizer.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is none, [`Error::DeviceRequest`] if the driver refuses to open it.
    pub async fn new() -> Result<Self, Error> {
        Self::builder().build().await
    }

    /// As [`new`](Self::new), waiting for it.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn blocking() -> Result<Self, Error> {
        Self::builder().build_blocking()
    }

    /// Chooses adapter, features, limits and budget.
    pub fn builder() -> DeviceBuilder {
        DeviceBuilder::default()
    }

    /// Describes every adapter, in the order that [`DeviceBuilder::index`] counts in.
    pub async fn adapters() -> Vec<DeviceInfo> {
        adapters(None).await.iter().map(describe).collect()
    }

    /// Opens every adapter.
    ///
    /// # Errors
    /// [`Error::NoAdapter`] if there is none, or the first error of opening one.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn all_blocking() -> Result<Vec<Self>, Error> {
        let count = pollster::block_on(Self::adapters()).len();
        (0..count.max(1)).map(|index| Self::builder().index(index).build_blocking()).collect()
    }

    pub(crate) fn from_wgpu(
        device: wgpu::Device,
        queue: wgpu::Queue,
        info: DeviceInfo,
        adapter: wgpu::AdapterInfo,
        builder: &DeviceBuilder,
    ) -> Result<Self, Error> {
        let fault = Fault::watch(&device);
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let staging = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let checks = Checks::open(&device, builder.checked)?;
        let (batches, opened) = (Arc::<Batches>::default(), (&device, &queue));
        let inner = Inner {
            recorder: Mutex::new(Recorder::new(&device, &queue, &info.limits, Arc::clone(&batches), checks.clone())?),
            plans: PlanCache::default(),
            tunings: Tunings::new(builder, &info),
            pipelines: Pipelines::open(&device, &fault, &info, &adapter, &builder.cache, checks.clone()),
            scalars: Mutex::default(),
            // Kernels bind whole buffers, so pooled ones stay below the limit of bindings, too.
            pool: Pool::new(
                opened,
                &fault,
                storage,
                info.limits.binding_bytes,
                builder.budget,
                &batches,
                builder.checked,
            ),
            staging: Pool::new(opened, &fault, staging, info.limits.binding_bytes, None, &batches, false),
            #[cfg(not(target_arch = "wasm32"))]
            poller: Default::default(),
            fault,
            checks,
            attached: OnceLock::new(),
            info,
            queue,
            wgpu: device,
            #[cfg(not(target_arch = "wasm32"))]
            closing: None,
        };
        Ok(Self { inner: Arc::new(inner) })
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
        &self.inner.info
    }

    /// Hands all recorded work to the GPU without waiting for it.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Capturing`] within [`capture`](Self::capture), or an error of earlier work that
    /// had no other place to appear.
    pub fn submit(&self) -> Result<(), Error> {
        capture::forbid(self, "submitting")?;
        lock(&self.inner.recorder).flush();
        self.inner.fault.check()
    }

    /// Hands all recorded work to the GPU and resolves when it is done. In browsers the pipelines that exist are compiled then, too,
    /// and what was wrong with one of them is the error of this call: `device.warm_up(…)?; device.synchronize().await?`.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    pub async fn synchronize(&self) -> Result<(), Error> {
        capture::forbid(self, "waiting for the GPU")?;
        self.inner.fault.check()?;
        let last = lock(&self.inner.recorder).flush();
        crate::readback::done(self, last).await;
        self.inner.fault.check()
    }

    /// As [`synchronize`](Self::synchronize), blocking this thread.
    ///
    /// # Errors
    /// As [`submit`](Self::submit).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn synchronize_blocking(&self) -> Result<(), Error> {
        capture::forbid(self, "waiting for the GPU")?;
        let last = lock(&self.inner.recorder).flush();
        // No lock is held while waiting: other threads go on recording.
        if !crate::readback::poll(&self.inner.wgpu, wgpu::PollType::Wait { submission_index: last, timeout: None }) {
            self.inner.fault.lose("the driver failed while waiting for the GPU".into());
        }
        self.inner.fault.check()
    }

    /// Bytes and counts of this device's buffers. The process holds more: see [`reserved_bytes`](Self::reserved_bytes).
    pub fn memory_report(&self) -> MemoryReport {
        let staging = self.inner.staging.report();
        let staging_bytes = staging.live_bytes + staging.idle_bytes + staging.freed_bytes;
        MemoryReport { staging_bytes, ..self.inner.pool.report() }
    }

    /// Bytes that wgpu holds of the driver for buffers; `None` where it does not say, as in browsers. Takes as long as there are buffers.
    ///
    /// It is more than the sum of live, idle, freed and staging bytes of [`memory_report`](Self::memory_report). Small buffers share
    /// blocks, which go back when all of their buffers are gone, and uploads pass through buffers of wgpu's own until the batch that
    /// reads them is done. A program whose sizes change in one batch keeps up to twice its peak and 64 MiB, for reuse; `trim` frees
    /// that. The driver's compiled shaders, and on software adapters their compiler, come on top.
    pub fn reserved_bytes(&self) -> Option<u64> {
        self.inner.wgpu.generate_allocator_report().map(|report| report.total_reserved_bytes)
    }

    /// Frees all memory that no tensor uses. Submits what is recorded, which may use it.
    pub fn trim(&self) {
        let mut recorder = lock(&self.inner.recorder);
        recorder.flush();
        recorder.forget_bind_groups();
        drop(recorder);
        lock(&self.inner.scalars).clear();
        self.inner.pool.trim();
        self.inner.staging.trim();
    }

    /// Writes the compiled pipelines to disk, where the adapter supports it; also done when the device drops.
    ///
    /// # Errors
    /// [`Error::CacheFile`] if the file cannot be written.
    pub fn save_pipeline_cache(&self) -> Result<(), Error> {
        self.inner.pipelines.save()
    }

    /// How a launch of `function` would run for tensors of these shapes (one per parameter, empty for scalars; of a quantized
    /// tensor followed by its number of groups and the words of a scale, 1 or 2): the variant of each kernel, what decided
    /// that, and why others were not chosen.
    ///
    /// # Errors
    /// As a launch with such tensors.
    pub fn explain(&self, function: &Function, shapes: &[&[usize]]) -> Result<Explanation, Error> {
        let shapes = shapes.iter().map(|dims| Shape::new(dims)).collect::<Result<Vec<_>, _>>()?;
        crate::plan::explain(function, &shapes, &self.inner.plans.forced(), &self.applied())
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
        self.inner.fault.lose("`Device::destroy` was called".into());
        self.inner.wgpu.destroy();
    }

    /// A number of the host as a rank-0 tensor; equal ones share their memory. `bits` are those of
    /// [`Uniform::Scalar`](fuse_artifact::Uniform::Scalar): an `f16` as the bits of the equal `f32`.
    #[doc(hidden)]
    pub fn scalar_tensor(&self, dtype: DType, bits: u32) -> Result<RawTensor, Error> {
        let cached = lock(&self.inner.scalars).get(&(dtype, bits)).cloned();
        if let Some(buffer) = cached {
            return Ok(RawTensor::from_parts(self, buffer, dtype, Shape::SCALAR));
        }
        // Also while capturing: the number stays as it is, and so does the tensor.
        let buffer = upload(self, Source::Bytes(&scalar_bytes(dtype, bits)))?;
        let tensor = RawTensor::from_parts(self, buffer, dtype, Shape::SCALAR);
        let mut scalars = lock(&self.inner.scalars);
        if scalars.len() >= MAX_SCALARS {
            scalars.clear();
        }
        scalars.insert((dtype, bits), Arc::clone(tensor.buffer()));
        Ok(tensor)
    }

    /// The wgpu device, for programs that also use wgpu directly.
    pub fn wgpu_device(&self) -> &wgpu::Device {
        &self.inner.wgpu
    }

    #[doc(hidden)]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.inner.info.name).finish()
    }
}
