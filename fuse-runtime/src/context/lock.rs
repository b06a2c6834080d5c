//! Locking that outlives a panic elsewhere.
//!
//! Every critical section of this crate leaves its data valid at each step, so a lock poisoned by a panicking
//! user closure is still good.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
