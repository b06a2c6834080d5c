//! Who holds a tensor's memory: tensors, and those that follow a tensor.
//!
//! A clone is a value: it shares memory until it or its original is written to, and then that one moves to memory of its own.
//! Sequences and lazy tensors follow the tensor that they were made with: they see what is written to it, also after it moved.
//!
//! Invariant: memory that a sequence writes has one tensor, but for tensors without values: it cannot move during a replay, so a
//! clone of such a tensor is a copy.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::context::{lock::lock, pool::Lease};

/// A hold on memory that is no tensor of its own.
pub(crate) struct Follower {
    lease: Arc<Lease>,
    writes: AtomicBool,
}

impl Follower {
    pub(crate) fn new(lease: &Arc<Lease>) -> Self {
        // In this order, and the other one in `drop`: other threads may see a holder too many, never one too few.
        let lease = Arc::clone(lease);
        lease.add_follower();
        Self { lease, writes: false.into() }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// Whether a sequence writes through it.
    pub(crate) fn writes(&self) -> bool {
        self.writes.load(Ordering::Relaxed)
    }

    /// Notes that a sequence writes through it.
    pub(crate) fn set_writes(&self) {
        if !self.writes.swap(true, Ordering::AcqRel) {
            self.lease.add_writer();
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.writes() {
            self.lease.remove_writer();
        }
        self.lease.remove_follower();
    }
}

/// The identity of a tensor that is followed, which stays when the tensor moves. Reshaped tensors share it, clones do not.
#[derive(Default)]
pub(crate) struct Identity {
    moves: AtomicU64,
    latest: Mutex<Option<Follower>>,
}

impl Identity {
    /// How often the tensor has moved.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    /// Where the tensor has moved to, if it has.
    pub(crate) fn latest(&self) -> Option<Arc<Lease>> {
        if self.moves() == 0 {
            return None;
        }
        lock(&self.latest).as_ref().map(|follower| Arc::clone(follower.lease()))
    }

    /// Notes that the tensor has moved.
    pub(crate) fn move_to(&self, lease: &Arc<Lease>) {
        *lock(&self.latest) = Some(Follower::new(lease));
        self.moves.fetch_add(1, Ordering::AcqRel);
    }
}

/// The memory and the identity of a tensor, for captures.
#[derive(Clone, Copy)]
pub(crate) struct Tracked<'a> {
    pub(crate) lease: &'a Arc<Lease>,
    pub(crate) identity: &'a OnceLock<Arc<Identity>>,
    pub(crate) bytes: u64,
}

impl<'a> Tracked<'a> {
    /// The identity, made when it is first asked for.
    pub(crate) fn identity(&self) -> &'a Arc<Identity> {
        self.identity.get_or_init(Arc::default)
    }

    /// The bytes of its elements in whole words, as buffers hold them.
    pub(crate) fn words_bytes(&self) -> u64 {
        self.bytes.next_multiple_of(4)
    }
}
