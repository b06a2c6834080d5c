//! The buffer pool: storage by size class, reused when tensors drop.
//!
//! Input: byte counts. Output: [`Storage`], which goes back to the pool when its last user drops it.
//! Invariants: classes are multiples of 16 bytes and at most a quarter larger than asked for (beyond the first
//! 64 bytes); live and idle memory together stay within the budget.
//!
//! All GPU work of a device happens in the order in which it is recorded, so a buffer may be handed out again
//! while recorded commands still use it. The one exception are host writes, which run before the open batch
//! of commands: they must avoid a buffer which that batch uses ([`Pool::take_idle`]).

use std::{
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use crate::{
    Error,
    fault::{Fault, scoped},
    lock::lock,
};

/// A buffer with its identity. Ids are never used twice.
#[derive(Debug)]
pub(crate) struct Storage {
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) id: u64,
    pub(crate) bytes: u64,
    /// The last batch of commands that uses it.
    last_batch: AtomicU64,
}

impl Storage {
    /// The last batch that uses the buffer.
    pub(crate) fn last_batch(&self) -> u64 {
        self.last_batch.load(Ordering::Relaxed)
    }

    /// Notes that batch `batch` uses the buffer.
    pub(crate) fn used_in(&self, batch: u64) {
        self.last_batch.fetch_max(batch, Ordering::Relaxed);
    }

    /// Gives the memory back as soon as submitted work is done with it, although bind groups still name the buffer.
    fn free(self, open: u64) {
        // Commands that are not submitted yet may still use the buffer: then its memory goes with its last user.
        if self.last_batch.load(Ordering::Relaxed) < open {
            self.buffer.destroy();
        }
    }
}

/// A [`Storage`] that returns to its pool when dropped.
pub(crate) struct Lease {
    storage: Option<Storage>,
    pool: Arc<Pool>,
    /// Whether work that gives it values was recorded; captured launches come later.
    ready: AtomicBool,
}

impl Lease {
    pub(crate) fn storage(&self) -> &Storage {
        // Only `drop` takes the storage out.
        self.storage.as_ref().unwrap_or_else(|| unreachable!("a lease holds its storage until it drops"))
    }

    /// Whether its values were recorded.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }

    /// Notes that its values were recorded.
    pub(crate) fn set_ready(&self) {
        // Nearly always true already: threads that launch into one tensor must not pass its cache line around.
        if !self.is_ready() {
            self.ready.store(true, Ordering::Release);
        }
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
    /// The most bytes ever in use at once.
    pub peak_bytes: u64,
    /// How often memory was asked for.
    pub requests: u64,
    /// How often a new buffer had to be created; constant in a steady state.
    pub created: u64,
    /// The budget, if one was set.
    pub budget_bytes: Option<u64>,
}

impl fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "live: {} in {} buffers", Bytes(self.live_bytes), self.live_buffers)?;
        writeln!(f, "idle: {} in {} buffers", Bytes(self.idle_bytes), self.idle_buffers)?;
        writeln!(f, "peak: {}", Bytes(self.peak_bytes))?;
        match self.budget_bytes {
            Some(budget) => writeln!(f, "budget: {}", Bytes(budget))?,
            None => writeln!(f, "budget: none")?,
        }
        write!(f, "requests: {}, of which {} created a buffer", self.requests, self.created)
    }
}

/// A byte count for people.
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

/// Buffers of one usage on one device.
#[derive(Debug)]
pub(crate) struct Pool {
    device: wgpu::Device,
    fault: Arc<Fault>,
    usage: wgpu::BufferUsages,
    max_bytes: u64,
    /// The number of the batch that is being recorded.
    open_batch: Arc<AtomicU64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By class, of which there are few.
    idle: Vec<(u64, Vec<Storage>)>,
    report: MemoryReport,
    next_id: u64,
}

impl State {
    fn lend(&mut self, bytes: u64) {
        self.report.live_bytes += bytes;
        self.report.live_buffers += 1;
        self.report.peak_bytes = self.report.peak_bytes.max(self.report.live_bytes);
    }

    fn unlend(&mut self, bytes: u64) {
        self.report.live_bytes -= bytes;
        self.report.live_buffers -= 1;
    }

    /// Takes an idle buffer of a class that `fits` accepts.
    fn reuse(&mut self, class: u64, fits: impl Fn(&Storage) -> bool) -> Option<Storage> {
        let (_, shelf) = self.idle.iter_mut().find(|(found, _)| *found == class)?;
        // The most recent one is the likeliest to be warm in caches.
        let storage = shelf.remove(shelf.iter().rposition(fits)?);
        self.report.idle_bytes -= storage.bytes;
        self.report.idle_buffers -= 1;
        self.lend(storage.bytes);
        Some(storage)
    }

    /// Frees what is idle; `open` is the number of the open batch.
    fn drop_idle(&mut self, open: u64) {
        std::mem::take(&mut self.idle).into_iter().flat_map(|(_, shelf)| shelf).for_each(|storage| storage.free(open));
        (self.report.idle_bytes, self.report.idle_buffers) = (0, 0);
    }
}

/// How the content of a new buffer begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// Zeros (all buffers that wgpu creates).
    Zeroed,
    /// Mapped, so that the host can write first.
    Mapped,
}

/// Idle memory that is always allowed, however small the peak.
const IDLE_FLOOR: u64 = 64 << 20;

impl Pool {
    pub(crate) fn new(
        device: &wgpu::Device,
        fault: &Arc<Fault>,
        usage: wgpu::BufferUsages,
        max_bytes: u64,
        budget: Option<u64>,
        open_batch: &Arc<AtomicU64>,
    ) -> Arc<Self> {
        let state = State { report: MemoryReport { budget_bytes: budget, ..Default::default() }, ..Default::default() };
        Arc::new(Self {
            device: device.clone(),
            fault: Arc::clone(fault),
            usage,
            max_bytes,
            open_batch: Arc::clone(open_batch),
            state: Mutex::new(state),
        })
    }

    /// Wraps storage of this pool so that it comes back.
    pub(crate) fn lease(self: &Arc<Self>, storage: Storage) -> Arc<Lease> {
        self.wrap(storage, true)
    }

    /// As [`lease`](Self::lease), for values that a captured launch will make.
    pub(crate) fn lease_for_later(self: &Arc<Self>, storage: Storage) -> Arc<Lease> {
        self.wrap(storage, false)
    }

    fn wrap(self: &Arc<Self>, storage: Storage, ready: bool) -> Arc<Lease> {
        Arc::new(Lease { storage: Some(storage), pool: Arc::clone(self), ready: ready.into() })
    }

    /// At least `bytes` bytes of storage, and whether it is a fresh buffer (which holds zeros). That of an empty tensor is always
    /// fresh: kernels may read its first element, which must not be what another tensor left.
    pub(crate) fn take(&self, bytes: u64) -> Result<(Storage, bool), Error> {
        let class = self.class(bytes)?;
        {
            let mut state = lock(&self.state);
            state.report.requests += 1;
            if let Some(storage) = state.reuse(class, |_| bytes > 0) {
                return Ok((storage, false));
            }
        }
        self.create(class, Start::Zeroed).map(|storage| (storage, true))
    }

    /// Pooled storage that the open batch does not use, so that the host may write it now.
    pub(crate) fn take_idle(&self, bytes: u64) -> Result<Option<Storage>, Error> {
        let class = self.class(bytes)?;
        let open = self.open();
        let mut state = lock(&self.state);
        let storage = state.reuse(class, |storage| bytes > 0 && storage.last_batch.load(Ordering::Relaxed) < open);
        state.report.requests += u64::from(storage.is_some());
        Ok(storage)
    }

    /// New storage, for the host to write.
    pub(crate) fn take_new(&self, bytes: u64, start: Start) -> Result<Storage, Error> {
        let class = self.class(bytes)?;
        lock(&self.state).report.requests += 1;
        self.create(class, start)
    }

    /// Takes storage back.
    pub(crate) fn give(&self, storage: Storage) {
        let mut state = lock(&self.state);
        state.unlend(storage.bytes);
        // Idle memory never passes the peak of live memory, so that odd shapes do not pile up.
        if state.report.idle_bytes + storage.bytes <= state.report.peak_bytes.max(IDLE_FLOOR) {
            state.report.idle_bytes += storage.bytes;
            state.report.idle_buffers += 1;
            match state.idle.iter_mut().find(|(class, _)| *class == storage.bytes) {
                Some((_, shelf)) => shelf.push(storage),
                None => state.idle.push((storage.bytes, vec![storage])),
            }
        } else {
            storage.free(self.open());
        }
    }

    /// Frees everything that is idle.
    pub(crate) fn trim(&self) {
        lock(&self.state).drop_idle(self.open());
    }

    fn open(&self) -> u64 {
        self.open_batch.load(Ordering::Acquire)
    }

    pub(crate) fn report(&self) -> MemoryReport {
        lock(&self.state).report
    }

    /// The size of the buffers that hold `bytes`.
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
        Ok(size_class(bytes).min(self.max_bytes))
    }

    /// Creates a buffer within the budget; frees idle ones when memory is short.
    fn create(&self, class: u64, start: Start) -> Result<Storage, Error> {
        let id = self.reserve(class)?;
        let mut made = self.create_buffer(class, start);
        if matches!(made, Err(Error::OutOfMemory { .. })) {
            self.trim();
            // Freed buffers return to the driver only when the work that uses them is done.
            crate::readback::poll(&self.device, wgpu::PollType::wait_indefinitely());
            made = self.create_buffer(class, start);
        }
        match made {
            Ok(buffer) => Ok(Storage { buffer, id, bytes: class, last_batch: AtomicU64::new(0) }),
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

    /// Counts a new buffer as live, freeing idle ones if the budget asks for it; its id.
    fn reserve(&self, class: u64) -> Result<u64, Error> {
        let mut state = lock(&self.state);
        if let Some(budget) = state.report.budget_bytes {
            let live = state.report.live_bytes;
            if live + class > budget {
                return Err(Error::BudgetExceeded { needed: class, live, budget });
            }
            if live + class + state.report.idle_bytes > budget {
                state.drop_idle(self.open());
            }
        }
        state.lend(class);
        state.report.created += 1;
        state.next_id += 1;
        Ok(state.next_id)
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

/// The size of the buffer that holds `bytes`: steps of a quarter of a power of two, multiples of 16.
fn size_class(bytes: u64) -> u64 {
    let bytes = bytes.max(16);
    let step = (1 << bytes.ilog2()) / 4;
    bytes.next_multiple_of(step.max(16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_and_waste_little() {
        for bytes in (0..5000).chain([1 << 20, (1 << 20) + 1, (1 << 30) - 1, 3_000_000_001]) {
            let class = size_class(bytes);
            assert!(class >= bytes.max(16) && class.is_multiple_of(16), "{bytes} in {class}");
            assert!(bytes < 64 || class <= bytes + bytes / 4 + 1, "{bytes} in {class}");
            assert_eq!(size_class(class), class);
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
