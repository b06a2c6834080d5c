//! Installed adapters, and blocking on futures. Browsers have one adapter, which tests await.

use std::{
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fuse_runtime::Device;

/// Blocks on a future, natively.
pub fn wait<R>(work: impl Future<Output = R>) -> R {
    pollster::block_on(work)
}

/// All installed adapters, opened for the calling thread.
///
/// A software adapter runs a device's work on one thread, so tests that share a device would wait for each other.
///
/// # Panics
/// If there is none: a numeric test without an adapter tests nothing.
pub fn devices() -> &'static [Device] {
    thread_local!(static OWN: Own = Own::take());
    OWN.with(|own| own.0)
}

/// Devices of a thread; the next thread takes them over, so devices never outnumber threads.
struct Own(&'static [Device]);

static IDLE: Mutex<Vec<&'static [Device]>> = Mutex::new(vec![]);

fn idle() -> MutexGuard<'static, Vec<&'static [Device]>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Own {
    fn take() -> Self {
        let idle = idle().pop();
        Self(idle.unwrap_or_else(|| {
            Device::all_blocking().map(Vec::leak).unwrap_or_else(|error| {
                panic!("{error}\nhelp: `cargo xtask test` installs a software adapter (Mesa's lavapipe) where it can")
            })
        }))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        idle().push(self.0);
    }
}
