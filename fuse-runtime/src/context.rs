//! Context of an open device, below plans and tensors: wgpu's handles, pools, pipelines, the recorder.
//!
//! - `info`, `environment`, `hardware`, `vendors`, `adapters`, `browser`: adapters.
//! - `pool`, `hold`, `upload`, `readback`, `poll`, `poller`: memory and transfers.
//! - `pipeline`, `disk`, `specialization`, `checked`: compiled shaders.
//! - `step`, `label`, `bind`, `record`, `timestamps`: dispatches.
//! - `error`, `fault`: failures; `shape`, `element`, `callable`: types that all layers name.
//!
//! Not here: plans (`plan`), choice of variants (`tune`), public handles (`api`).

pub(crate) mod adapters;
pub(crate) mod bind;
#[cfg(target_arch = "wasm32")]
pub(crate) mod browser;
pub(crate) mod callable;
pub(crate) mod checked;
pub(crate) mod control_flow;
pub(crate) mod disk;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod driver_lock;
pub(crate) mod element;
pub(crate) mod environment;
pub(crate) mod error;
pub(crate) mod fault;
pub(crate) mod hardware;
pub(crate) mod hold;
pub(crate) mod info;
pub(crate) mod label;
pub(crate) mod lock;
pub(crate) mod pipeline;
pub(crate) mod poll;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod poller;
pub(crate) mod pool;
pub(crate) mod readback;
pub(crate) mod record;
pub(crate) mod shape;
pub(crate) mod specialization;
pub(crate) mod step;
pub(crate) mod timestamps;
pub(crate) mod upload;
pub(crate) mod vendors;

use std::sync::{Arc, Mutex};

use crate::context::{
    checked::{Checks, SharedChecks},
    disk::CacheChoice,
    error::Error,
    fault::Fault,
    info::DeviceInfo,
    lock::lock,
    pipeline::Pipelines,
    pool::{Batches, MemoryReport, Pool, Storage},
    record::Recorder,
};
#[cfg(not(target_arch = "wasm32"))]
use crate::context::{
    driver_lock::{Closing, closing},
    poller::Poller,
};

pub(crate) struct Context {
    pub(crate) recorder: Mutex<Recorder>,
    pub(crate) pipelines: Pipelines,
    pub(crate) pool: Arc<Pool>,
    pub(crate) staging: Arc<Pool>,
    pub(crate) fault: Arc<Fault>,
    pub(crate) checks: Option<SharedChecks>,
    pub(crate) info: DeviceInfo,
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) poller: Poller,
    pub(crate) queue: wgpu::Queue,
    pub(crate) wgpu: wgpu::Device,
    /// Taken by [`close`](Self::close), released after all fields before it are dropped.
    #[cfg(not(target_arch = "wasm32"))]
    closing: Option<Closing>,
}

pub(crate) struct Options<'a> {
    pub(crate) cache: &'a CacheChoice,
    pub(crate) budget: Option<u64>,
    /// Shaders check indices, for tests.
    pub(crate) checked: bool,
}

impl Context {
    pub(crate) fn open(
        (device, queue): (wgpu::Device, wgpu::Queue),
        info: DeviceInfo,
        adapter: &wgpu::AdapterInfo,
        options: &Options<'_>,
    ) -> Result<Self, Error> {
        let Options { cache, budget, checked } = *options;
        let fault = Fault::watch(&device);
        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let staging = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let checks = Checks::open(&device, checked)?;
        let (batches, opened) = (Arc::<Batches>::default(), (&device, &queue));
        Ok(Self {
            recorder: Mutex::new(Recorder::new(&device, &queue, &info.limits, Arc::clone(&batches), checks.clone())?),
            pipelines: Pipelines::open(&device, &fault, &info, adapter, cache, checks.clone()),
            // Kernels bind whole buffers: pooled ones stay below that limit, too.
            pool: Pool::new(opened, &fault, storage, info.limits.binding_bytes, budget, &batches, checked),
            staging: Pool::new(opened, &fault, staging, info.limits.binding_bytes, None, &batches, false),
            #[cfg(not(target_arch = "wasm32"))]
            poller: Poller::default(),
            fault,
            checks,
            info,
            queue,
            wgpu: device,
            #[cfg(not(target_arch = "wasm32"))]
            closing: None,
        })
    }

    /// Waits until a driver can close a device. The caller drops the context next.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn close(&mut self) {
        self.closing = Some(closing());
    }

    /// Takes storage; true if zeroed. The caller must not hold the recorder's lock.
    pub(crate) fn take(&self, bytes: u64) -> Result<(Storage, bool), Error> {
        let (storage, fresh) = self.pool.take(bytes, &mut || self.submit())?;
        if self.checks.is_some() {
            lock(&self.recorder).poison(&storage);
            return Ok((storage, false));
        }
        Ok((storage, fresh))
    }

    pub(crate) fn submit(&self) {
        lock(&self.recorder).flush();
    }

    pub(crate) fn memory_report(&self) -> MemoryReport {
        let staging = self.staging.report();
        let staging_bytes = staging.live_bytes + staging.idle_bytes + staging.freed_bytes;
        MemoryReport { staging_bytes, ..self.pool.report() }
    }

    /// Frees unused memory, after submitting recorded work, which may use it.
    pub(crate) fn trim(&self) {
        let mut recorder = lock(&self.recorder);
        recorder.flush();
        recorder.forget_bind_groups();
        drop(recorder);
        self.pool.trim();
        self.staging.trim();
    }
}
