//! Holders of a tensor's memory: tensors and followers.
//!
//! A clone shares memory until it or its original is written, and moves. Sequences and lazy tensors follow the tensor
//! that they were made with, also after it moved.
//!
//! Invariant: memory that a sequence writes has one tensor, except for tensors without values. It cannot move during a
//! replay, so a clone is a copy.

use std::sync::{
    Arc, Mutex, OnceLock,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use crate::context::{lock::lock, pool::Lease};

pub(crate) struct Follower {
    lease: Arc<Lease>,
    writes: AtomicBool,
}

impl Follower {
    pub(crate) fn new(lease: &Arc<Lease>) -> Self {
        // In this order, reversed in `drop`: other threads may count a holder too many, never one too few.
        let lease = Arc::clone(lease);
        lease.add_follower();
        Self { lease, writes: false.into() }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// A sequence writes through it.
    pub(crate) fn writes(&self) -> bool {
        self.writes.load(Ordering::Relaxed)
    }

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

/// Reshaped tensors share the identity, clones do not.
#[derive(Default)]
pub(crate) struct Identity {
    moves: AtomicU64,
    latest: Mutex<Option<Follower>>,
}

impl Identity {
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    pub(crate) fn latest(&self) -> Option<Arc<Lease>> {
        if self.moves() == 0 {
            return None;
        }
        lock(&self.latest).as_ref().map(|follower| Arc::clone(follower.lease()))
    }

    pub(crate) fn move_to(&self, lease: &Arc<Lease>) {
        *lock(&self.latest) = Some(Follower::new(lease));
        self.moves.fetch_add(1, Ordering::AcqRel);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Tracked<'a> {
    pub(crate) lease: &'a Arc<Lease>,
    pub(crate) identity: &'a OnceLock<Arc<Identity>>,
    pub(crate) bytes: u64,
}

impl<'a> Tracked<'a> {
    pub(crate) fn identity(&self) -> &'a Arc<Identity> {
        self.identity.get_or_init(Arc::default)
    }

    /// Bytes in whole words.
    pub(crate) fn words_bytes(&self) -> u64 {
        self.bytes.next_multiple_of(4)
    }
}
