//! [`Recorder`]: one open encoder with one open compute pass, submitted in batches.
//!
//! Uniform blocks gather on the host and are written to one arena right before submission. Queue writes run between
//! batches: the arena needs no copies.
//!
//! Invariant: buffers of a batch carry its number (see `pool`). Not here: plans (`plan`).

use std::sync::{Arc, atomic::Ordering};

use crate::context::{
    bind::{BindGroups, Buffers},
    checked::SharedChecks,
    error::Error,
    fault::scoped,
    info::Limits,
    lock::lock,
    pool::{Batches, EMPTY, Storage},
    step::Step,
    timestamps::Log,
};

/// Uniform arena: more than a usual batch needs.
const ARENA_BYTES: u64 = 256 << 10;

/// Native batches start short, to give an idle GPU work soon, and double up to the longest. In browsers, a submission
/// costs as much as dozens of dispatches.
const SHORTEST_BATCH: u32 = if cfg!(target_arch = "wasm32") { LONGEST_BATCH } else { 8 };
const LONGEST_BATCH: u32 = 128;

pub(crate) struct Bound<'a> {
    pub(crate) step: &'a Step,
    pub(crate) group: &'a wgpu::BindGroup,
    pub(crate) offset: Option<u32>,
}

pub(crate) enum Replayed<'a> {
    Dispatch(Bound<'a>),
    /// A multiple of 4 bytes.
    Copy {
        from: &'a Storage,
        to: &'a Storage,
        bytes: u64,
    },
}

pub(crate) struct Recorder {
    // Before the encoder: a pass ends when dropped, which must happen first.
    pass: Option<wgpu::ComputePass<'static>>,
    encoder: Option<wgpu::CommandEncoder>,
    /// Set in the open pass; 0 for none.
    pipeline: u64,
    uniforms: Vec<u8>,
    arena: wgpu::Buffer,
    alignment: usize,
    groups: BindGroups,
    dispatches: u32,
    batch_length: u32,
    batches: Arc<Batches>,
    /// A launch's temporaries, kept so that launches allocate no list.
    pub(crate) temporaries: Vec<Option<Storage>>,
    pub(crate) log: Option<Log>,
    checks: Option<SharedChecks>,
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Recorder {
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        limits: &Limits,
        batches: Arc<Batches>,
        checks: Option<SharedChecks>,
    ) -> Result<Self, Error> {
        let arena = scoped(device, || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("uniforms"),
                size: ARENA_BYTES,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })?;
        Ok(Self {
            pass: None,
            encoder: None,
            pipeline: 0,
            uniforms: Vec::with_capacity(ARENA_BYTES as usize),
            arena,
            alignment: uniform_alignment(limits),
            groups: BindGroups::default(),
            dispatches: 0,
            batch_length: SHORTEST_BATCH,
            batches,
            temporaries: Vec::new(),
            log: None,
            checks,
            device: device.clone(),
            queue: queue.clone(),
        })
    }

    /// Records a dispatch; `scalar` returns a host scalar's bits by parameter.
    pub(crate) fn dispatch(&mut self, step: &Step, buffers: &Buffers<'_>, scalar: impl Fn(u16) -> u32) {
        if self.dispatches >= self.batch_length || !self.has_room(step.pipeline.layout.uniform_bytes) {
            self.flush_full();
        }
        let offset = push_uniforms(&mut self.uniforms, self.alignment, step, scalar);
        let batch = self.open_batch();
        buffers.iter().flatten().for_each(|storage| storage.used_in(batch));
        self.open_pass(step);
        let Some(pass) = &mut self.pass else { return };
        let group = self.groups.get(&self.device, &step.pipeline.layout, &self.arena, buffers);
        encode(pass, &mut self.pipeline, &Bound { step, group, offset });
        self.dispatches += 1;
    }

    /// Records a replay; `mark` marks buffers of dispatches as used in a batch.
    pub(crate) fn replay<'a>(&mut self, recorded: impl Iterator<Item = Replayed<'a>>, mark: impl Fn(u64)) {
        let mut marked = 0;
        for recorded in recorded {
            let bound = match recorded {
                Replayed::Dispatch(bound) => bound,
                Replayed::Copy { from, to, bytes } => {
                    self.copy(from, to, bytes);
                    continue;
                }
            };
            if self.dispatches >= self.batch_length {
                self.flush_full();
            }
            let batch = self.open_batch();
            if batch != marked {
                mark(batch);
                marked = batch;
            }
            self.open_pass(bound.step);
            let Some(pass) = &mut self.pass else { return };
            encode(pass, &mut self.pipeline, &bound);
            self.dispatches += 1;
        }
    }

    pub(crate) fn clear(&mut self, storage: &Storage) {
        storage.used_in(self.open_batch());
        self.outside_pass().clear_buffer(&storage.buffer, 0, None);
    }

    /// With checked shaders, fills new memory, except of empty tensors, with bits that are no number, index or truth
    /// value.
    pub(crate) fn poison(&mut self, storage: &Storage) {
        if self.checks.is_some() && storage.bytes != EMPTY {
            // Queue writes run before the open batch, which may use the memory.
            self.flush();
            self.queue.write_buffer(&storage.buffer, 0, &vec![0xff; storage.bytes as usize]);
        }
    }

    pub(crate) fn copy(&mut self, from: &Storage, to: &Storage, bytes: u64) {
        let batch = self.open_batch();
        from.used_in(batch);
        to.used_in(batch);
        self.outside_pass().copy_buffer_to_buffer(&from.buffer, 0, &to.buffer, 0, bytes);
    }

    pub(crate) fn outside_pass(&mut self) -> &mut wgpu::CommandEncoder {
        self.close_pass();
        let device = &self.device;
        self.encoder.get_or_insert_with(|| device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default()))
    }

    /// Submits recorded work. The next batch starts short: the caller is about to wait.
    pub(crate) fn flush(&mut self) -> Option<wgpu::SubmissionIndex> {
        self.batch_length = SHORTEST_BATCH;
        self.submit()
    }

    /// Submits work that uses `storage`, so that a host write comes after it.
    pub(crate) fn flush_uses(&mut self, storage: &Storage) {
        if storage.last_batch() >= self.open_batch() {
            self.submit();
        }
    }

    /// Drops cached bind groups, which keep buffers alive.
    pub(crate) fn forget_bind_groups(&mut self) {
        self.groups.clear();
    }

    fn flush_full(&mut self) {
        self.batch_length = (self.batch_length * 2).min(LONGEST_BATCH);
        self.submit();
    }

    fn submit(&mut self) -> Option<wgpu::SubmissionIndex> {
        self.close_pass();
        let commands = self.encoder.take()?.finish();
        if !self.uniforms.is_empty() {
            self.queue.write_buffer(&self.arena, 0, &self.uniforms);
            self.uniforms.clear();
        }
        self.dispatches = 0;
        let index = self.queue.submit([commands]);
        // Only now may host writes go to buffers of this batch.
        self.batches.open.fetch_add(1, Ordering::Release);
        self.groups.forget(&std::mem::take(&mut *lock(&self.batches.destroyed)));
        Some(index)
    }

    fn open_batch(&self) -> u64 {
        self.batches.open.load(Ordering::Relaxed)
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.uniforms.len() as u64 + bytes <= ARENA_BYTES
    }

    /// The shared pass or, when profiling, one with timestamps for this step.
    fn open_pass(&mut self, step: &Step) {
        if self.log.as_ref().is_some_and(|log| !log.shares_passes) {
            self.close_pass();
        }
        if self.pass.is_some() {
            return;
        }
        self.outside_pass();
        let Some(encoder) = &mut self.encoder else { return };
        let timestamp_writes = self.log.as_mut().and_then(|log| log.start(&self.device, step));
        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
        let mut pass = encoder.begin_compute_pass(&descriptor).forget_lifetime();
        if let Some(checks) = &self.checks {
            pass.set_bind_group(1, checks.group(), &[]);
        }
        self.pass = Some(pass);
    }

    fn close_pass(&mut self) {
        self.pass = None;
        self.pipeline = 0;
    }
}

pub(crate) fn uniform_alignment(limits: &Limits) -> usize {
    limits.uniform_alignment.max(16) as usize
}

/// Appends the aligned uniform block of `step`; returns its offset.
pub(crate) fn push_uniforms(
    uniforms: &mut Vec<u8>,
    alignment: usize,
    step: &Step,
    scalar: impl Fn(u16) -> u32,
) -> Option<u32> {
    let bytes = step.pipeline.layout.uniform_bytes as usize;
    if bytes == 0 {
        return None;
    }
    let start = uniforms.len();
    uniforms.extend_from_slice(bytemuck::cast_slice(&step.filled.words));
    for &(word, param) in &step.filled.scalars {
        let at = start + 4 * usize::from(word);
        uniforms[at..at + 4].copy_from_slice(&scalar(param).to_ne_bytes());
    }
    uniforms.resize((start + bytes).next_multiple_of(alignment), 0);
    Some(start as u32)
}

/// Encodes a dispatch; `pipeline` is the id of the set one.
fn encode(pass: &mut wgpu::ComputePass<'_>, pipeline: &mut u64, bound: &Bound<'_>) {
    let Bound { step, group, offset } = bound;
    if *pipeline != step.pipeline.id {
        pass.set_pipeline(&step.pipeline.compute);
        *pipeline = step.pipeline.id;
    }
    pass.set_bind_group(0, *group, offset.as_slice());
    pass.dispatch_workgroups(step.filled.grid[0], step.filled.grid[1], 1);
}
