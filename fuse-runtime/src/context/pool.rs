//! The buffer pool: storage by size class, reused when tensors drop.
//!
//! Input: byte counts. Output: [`Storage`], which returns to the pool when its last user drops it.
//!
//! # Invariants
//! Classes are multiples of 16 bytes, except that of empty tensors. A buffer is at most a quarter larger than requested
//! (beyond 64 bytes), or two and a half times as large while much memory is idle. Live, idle and freed memory still in
//! use stays within the budget, and within twice the peak of live memory plus 64 MiB.
//!
//! GPU work runs in recording order: a buffer may be handed out while recorded commands still use it. Host writes run
//! before the open batch: they, and freeing, must avoid its buffers.

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use crate::context::{
    error::Error,
    fault::{Fault, scoped},
    lock::lock,
};

/// Ids are never reused.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) id: u64,
    pub(crate) bytes: u64,
    last_batch: AtomicU64,
}

impl Storage {
    pub(crate) fn last_batch(&self) -> u64 {
        self.last_batch.load(Ordering::Relaxed)
    }

    pub(crate) fn used_in(&self, batch: u64) {
        self.last_batch.fetch_max(batch, Ordering::Relaxed);
    }
}

pub(crate) struct Lease {
    storage: Option<Storage>,
    pool: Arc<Pool>,
    /// True if work that writes its values was recorded; captured launches come later.
    ready: AtomicBool,
    writes: AtomicU64,
    /// Low half: holders that are not tensors (see `hold`); high half: changes of that count.
    followers: AtomicU64,
    writers: AtomicUsize,
}

const FOLLOWER_CHANGE: u64 = 1 << 32;

impl Lease {
    pub(crate) fn storage(&self) -> &Storage {
        self.storage.as_ref().unwrap_or_else(|| unreachable!("a lease holds its storage until it drops"))
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    pub(crate) fn set_ready(&self) {
        // Nearly always set: threads that launch into one tensor must not contend for its cache line.
        if !self.is_ready() {
            self.ready.store(true, Ordering::Release);
        }
    }

    /// Replacements of its values: tells if they are still the same.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(crate) fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// Continues the count of a moved tensor's old memory.
    pub(crate) fn count_on_from(&self, other: &Self) {
        self.writes.store(other.writes(), Ordering::Relaxed);
    }

    /// Tensors that hold it; a lower bound while other threads clone or drop.
    pub(crate) fn tensors(self: &Arc<Self>) -> usize {
        loop {
            let before = self.followers.load(Ordering::Acquire);
            let holders = Arc::strong_count(self);
            // Both numbers must be of one moment.
            if self.followers.load(Ordering::Acquire) == before {
                return holders.saturating_sub(before as u32 as usize);
            }
        }
    }

    pub(crate) fn add_follower(&self) {
        self.followers.fetch_add(FOLLOWER_CHANGE + 1, Ordering::AcqRel);
    }

    pub(crate) fn remove_follower(&self) {
        self.followers.fetch_add(FOLLOWER_CHANGE - 1, Ordering::AcqRel);
    }

    pub(crate) fn has_writer(&self) -> bool {
        self.writers.load(Ordering::Acquire) > 0
    }

    pub(crate) fn add_writer(&self) {
        self.writers.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn remove_writer(&self) {
        self.writers.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(storage) = self.storage.take() {
            self.pool.give(storage);
        }
    }
}

/// Bytes and counts of a device's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryReport {
    /// Bytes in use by tensors and running launches.
    pub live_bytes: u64,
    /// Buffers in use.
    pub live_buffers: u64,
    /// Bytes kept for reuse.
    pub idle_bytes: u64,
    /// Buffers kept for reuse.
    pub idle_buffers: u64,
    /// Bytes of freed buffers that submitted work may still use.
    pub freed_bytes: u64,
    /// Bytes of host-readable buffers.
    pub staging_bytes: u64,
    /// Peak of live bytes.
    pub peak_bytes: u64,
    /// Allocations requested.
    pub requests: u64,
    /// Buffers created; constant in a steady state.
    pub created: u64,
    /// The budget, if one was set.
    pub budget_bytes: Option<u64>,
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "live: {} in {} buffers", Bytes(self.live_bytes), self.live_buffers)?;
        writeln!(f, "idle: {} in {} buffers", Bytes(self.idle_bytes), self.idle_buffers)?;
        writeln!(f, "freed, but in use by the GPU: {}", Bytes(self.freed_bytes))?;
        writeln!(f, "staging: {}", Bytes(self.staging_bytes))?;
        writeln!(f, "peak: {}", Bytes(self.peak_bytes))?;
        match self.budget_bytes {
            Some(budget) => writeln!(f, "budget: {}", Bytes(budget))?,
            None => writeln!(f, "budget: none")?,
        }
        write!(f, "requests: {}, of which {} created a buffer", self.requests, self.created)
    }
}

struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        let power = (self.0.max(1).ilog2() / 10).min(4);
        match power.checked_sub(1) {
            None => write!(f, "{} B", self.0),
            Some(unit) => write!(f, "{:.1} {}", self.0 as f64 / 1024f64.powi(power as i32), units[unit as usize]),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    device: wgpu::Device,
    queue: wgpu::Queue,
    fault: Arc<Fault>,
    usage: wgpu::BufferUsages,
    max_bytes: u64,
    batches: Arc<Batches>,
    /// Disables rounding up, except for alignment.
    exact: bool,
    /// Bytes destroyed, but maybe still in use by submitted work.
    freed: Arc<AtomicU64>,
    state: Mutex<PoolState>,
}

#[derive(Debug)]
pub(crate) struct Batches {
    pub(crate) open: AtomicU64,
    /// Destroyed buffers that bind groups may still name.
    pub(crate) destroyed: Mutex<Vec<u64>>,
}

impl Default for Batches {
    fn default() -> Self {
        Self { open: 1.into(), destroyed: Mutex::default() }
    }
}

#[derive(Debug, Default)]
struct PoolState {
    /// Most recently returned last.
    idle: Vec<Storage>,
    report: MemoryReport,
    /// Restricts reuse to the same class.
    exact: bool,
}

impl PoolState {
    fn lend(&mut self, bytes: u64) {
        self.report.live_bytes += bytes;
        self.report.live_buffers += 1;
        self.report.peak_bytes = self.report.peak_bytes.max(self.report.live_bytes);
    }

    fn unlend(&mut self, bytes: u64) {
        self.report.live_bytes -= bytes;
        self.report.live_buffers -= 1;
    }

    fn limit(&self, live: u64) -> u64 {
        let limit = 2 * self.report.peak_bytes.max(live) + IDLE_FLOOR;
        limit.min(self.report.budget_bytes.unwrap_or(u64::MAX))
    }

    /// Takes an idle buffer that `fits` accepts: of the class, or, if much memory is idle, up to twice as large, so
    /// that programs with changing sizes reuse theirs.
    fn reuse(&mut self, class: u64, fits: impl Fn(&Storage) -> bool) -> Option<Storage> {
        // The most recent one is likely in caches.
        let same = self.idle.iter().rposition(|storage| storage.bytes == class && fits(storage));
        let index = same.or_else(|| {
            let allowed = class..=self.largest_substitute(class);
            let may = |other: &Storage| allowed.contains(&other.bytes) && other.bytes != EMPTY && fits(other);
            let others = self.idle.iter().enumerate().filter(|(_, other)| may(other));
            others.min_by_key(|(_, other)| other.bytes).map(|(index, _)| index)
        })?;
        let storage = self.idle.remove(index);
        self.report.idle_bytes -= storage.bytes;
        self.report.idle_buffers -= 1;
        self.lend(storage.bytes);
        Some(storage)
    }

    fn largest_substitute(&self, class: u64) -> u64 {
        let MemoryReport { live_bytes, idle_bytes, budget_bytes, .. } = self.report;
        let few = live_bytes + idle_bytes + class <= self.limit(live_bytes + class) / 2;
        let within = budget_bytes.map_or(u64::MAX, |budget| budget.saturating_sub(live_bytes));
        if few || self.exact || class == EMPTY { 0 } else { within.min(2 * class) }
    }

    /// Removes the least recently returned buffers, except those in batch `open`, until at most `bytes` are idle.
    fn evict(&mut self, bytes: u64, open: u64) -> Vec<Storage> {
        let mut excess = self.report.idle_bytes.saturating_sub(bytes);
        let goes = |storage: &mut Storage| {
            let goes = excess > 0 && storage.last_batch() < open;
            excess = excess.saturating_sub(if goes { storage.bytes } else { 0 });
            goes
        };
        let evicted: Vec<Storage> = self.idle.extract_if(.., goes).collect();
        self.report.idle_bytes -= evicted.iter().map(|storage| storage.bytes).sum::<u64>();
        self.report.idle_buffers -= evicted.len() as u64;
        evicted
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    Zeroed,
    Mapped,
}

/// Idle memory allowed however small the peak.
const IDLE_FLOOR: u64 = 64 << 20;

/// Class of empty tensors only, from which kernels read 0. It has room for any element, and is no multiple of 16.
pub(crate) const EMPTY: u64 = 20;

pub(crate) type Submit<'a> = &'a mut dyn FnMut();

impl Pool {
    pub(crate) fn new(
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        fault: &Arc<Fault>,
        usage: wgpu::BufferUsages,
        max_bytes: u64,
        budget: Option<u64>,
        batches: &Arc<Batches>,
        exact: bool,
    ) -> Arc<Self> {
        let state = PoolState {
            exact,
            report: MemoryReport { budget_bytes: budget, ..Default::default() },
            ..Default::default()
        };
        Arc::new(Self {
            device: device.clone(),
            queue: queue.clone(),
            fault: Arc::clone(fault),
            usage,
            max_bytes,
            batches: Arc::clone(batches),
            exact,
            freed: Arc::default(),
            state: Mutex::new(state),
        })
    }

    pub(crate) fn lease(self: &Arc<Self>, storage: Storage) -> Arc<Lease> {
        self.wrap(storage, true)
    }

    pub(crate) fn lease_for_later(self: &Arc<Self>, storage: Storage) -> Arc<Lease> {
        self.wrap(storage, false)
    }

    fn wrap(self: &Arc<Self>, storage: Storage, ready: bool) -> Arc<Lease> {
        Arc::new(Lease {
            storage: Some(storage),
            pool: Arc::clone(self),
            ready: ready.into(),
            writes: 0.into(),
            followers: 0.into(),
            writers: 0.into(),
        })
    }

    /// Takes storage; true for a fresh buffer, which holds zeros.
    pub(crate) fn take(&self, bytes: u64, submit: Submit<'_>) -> Result<(Storage, bool), Error> {
        let class = self.class(bytes)?;
        {
            let mut state = lock(&self.state);
            state.report.requests += 1;
            if let Some(storage) = state.reuse(class, |_| true) {
                return Ok((storage, false));
            }
        }
        self.create(class, Start::Zeroed, submit).map(|storage| (storage, true))
    }

    /// Takes pooled storage that the open batch does not use, so that the host may write it now.
    pub(crate) fn take_idle(&self, bytes: u64, submit: Submit<'_>) -> Result<Option<Storage>, Error> {
        let class = self.class(bytes)?;
        let mut found = self.reuse_submitted(class);
        // Submitting may free buffers for reuse, before a new one evicts an idle one.
        if found.is_none() && !self.has_room(class) {
            submit();
            found = self.reuse_submitted(class);
        }
        Ok(found)
    }

    fn reuse_submitted(&self, class: u64) -> Option<Storage> {
        let open = self.open();
        let mut state = lock(&self.state);
        let storage = state.reuse(class, |storage| storage.last_batch() < open);
        state.report.requests += u64::from(storage.is_some());
        storage
    }

    fn has_room(&self, class: u64) -> bool {
        let state = lock(&self.state);
        let live = state.report.live_bytes + class;
        live + state.report.idle_bytes <= state.limit(live)
    }

    pub(crate) fn take_new(&self, bytes: u64, start: Start, submit: Submit<'_>) -> Result<Storage, Error> {
        let class = self.class(bytes)?;
        lock(&self.state).report.requests += 1;
        self.create(class, start, submit)
    }

    pub(crate) fn give(&self, storage: Storage) {
        let mut state = lock(&self.state);
        state.unlend(storage.bytes);
        state.report.idle_bytes += storage.bytes;
        state.report.idle_buffers += 1;
        state.idle.push(storage);
    }

    pub(crate) fn trim(&self) {
        let evicted = lock(&self.state).evict(0, self.open());
        self.destroy(evicted);
    }

    fn open(&self) -> u64 {
        self.batches.open.load(Ordering::Acquire)
    }

    pub(crate) fn report(&self) -> MemoryReport {
        MemoryReport { freed_bytes: self.freed.load(Ordering::Relaxed), ..lock(&self.state).report }
    }

    /// Size of the buffer for `bytes`.
    ///
    /// # Errors
    /// [`Error::TooLarge`].
    pub(crate) fn class(&self, bytes: u64) -> Result<u64, Error> {
        if bytes > self.max_bytes {
            return Err(Error::TooLarge {
                what: "tensor".into(),
                limit: "bytes of a buffer on this adapter",
                needed: bytes,
                allowed: self.max_bytes,
            });
        }
        Ok(if self.exact { exact_class(bytes) } else { size_class(bytes).min(self.max_bytes) })
    }

    fn create(&self, class: u64, start: Start, submit: Submit<'_>) -> Result<Storage, Error> {
        self.reserve(class, submit)?;
        let mut made = self.create_buffer(class, start);
        if matches!(made, Err(Error::OutOfMemory { .. })) {
            submit();
            self.trim();
            self.wait();
            made = self.create_buffer(class, start);
        }
        match made {
            Ok(buffer) => {
                // Shared by all pools: bind groups are dropped by these ids.
                static IDS: AtomicU64 = AtomicU64::new(1);
                let id = IDS.fetch_add(1, Ordering::Relaxed);
                Ok(Storage { buffer, id, bytes: class, last_batch: 0.into() })
            }
            Err(error) => {
                lock(&self.state).unlend(class);
                self.fault.check()?;
                Err(match error {
                    Error::OutOfMemory { .. } => Error::OutOfMemory { bytes: class },
                    other => other,
                })
            }
        }
    }

    /// Counts a new buffer as live; frees idle ones above the limit.
    fn reserve(&self, class: u64, submit: Submit<'_>) -> Result<(), Error> {
        if self.try_reserve(class, false)? {
            return Ok(());
        }
        // Buffers of the open batch can be freed only after it is done.
        submit();
        if self.try_reserve(class, false)? {
            return Ok(());
        }
        // Browsers do not wait: there, memory returns later.
        self.wait();
        self.try_reserve(class, true).map(drop)
    }

    /// Fails if the total still exceeds the limit, unless `always`.
    fn try_reserve(&self, class: u64, always: bool) -> Result<bool, Error> {
        let mut state = lock(&self.state);
        let live = state.report.live_bytes + class;
        if let Some(budget) = state.report.budget_bytes.filter(|budget| live > *budget) {
            return Err(Error::BudgetExceeded { needed: class, live: live - class, budget });
        }
        let limit = state.limit(live);
        let evicted = state.evict(limit - live, self.open());
        self.destroy(evicted);
        let done = always || live + state.report.idle_bytes + self.freed.load(Ordering::Relaxed) <= limit;
        if done {
            state.lend(class);
            state.report.created += 1;
        }
        Ok(done)
    }

    /// Destroys buffers outside of the open batch; memory returns after submitted work.
    fn destroy(&self, storages: Vec<Storage>) {
        if storages.is_empty() {
            return;
        }
        let bytes = storages.iter().map(|storage| storage.bytes).sum();
        self.freed.fetch_add(bytes, Ordering::Relaxed);
        lock(&self.batches.destroyed).extend(storages.iter().map(|storage| storage.id));
        storages.iter().for_each(|storage| storage.buffer.destroy());
        let freed = Arc::clone(&self.freed);
        self.queue.on_submitted_work_done(move || {
            freed.fetch_sub(bytes, Ordering::Relaxed);
        });
    }

    /// Waits for submitted work, which returns freed memory to the driver.
    fn wait(&self) {
        crate::context::poll::poll(&self.device, wgpu::PollType::wait_indefinitely());
    }

    fn create_buffer(&self, class: u64, start: Start) -> Result<wgpu::Buffer, Error> {
        scoped(&self.device, || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: class,
                usage: self.usage,
                mapped_at_creation: start == Start::Mapped,
            })
        })
    }
}

/// Buffer size: steps of a quarter of a power of two, multiples of 16.
fn size_class(bytes: u64) -> u64 {
    if bytes == 0 {
        return EMPTY;
    }
    let bytes = bytes.max(16);
    let step = (1 << bytes.ilog2()) / 4;
    bytes.next_multiple_of(step.max(16))
}

/// Smallest size that shaders can bind as vectors.
fn exact_class(bytes: u64) -> u64 {
    if bytes == 0 { EMPTY } else { bytes.next_multiple_of(16) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_and_waste_little() {
        for bytes in (0..5000).chain([1 << 20, (1 << 20) + 1, (1 << 30) - 1, 3_000_000_001]) {
            let class = size_class(bytes);
            assert!(class >= bytes.max(16) && class.is_multiple_of(16) != (bytes == 0), "{bytes} in {class}");
            assert_eq!(class == EMPTY, bytes == 0, "{bytes} in {class}");
            assert!(bytes < 64 || class <= bytes + bytes / 4 + 1, "{bytes} in {class}");
            assert!(bytes == 0 || size_class(class) == class, "{bytes} in {class}");
        }
    }

    #[test]
    fn byte_counts_read_well() {
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Bytes(1023).to_string(), "1023 B");
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes(3 << 30).to_string(), "3.0 GiB");
    }
}
