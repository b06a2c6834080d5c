//! The installed adapters, and waiting for what runs on them. Browsers have one, which tests await.

use std::{
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
};

use fuse_runtime::Device;

/// Waits for what tests do natively.
pub fn wait<R>(work: impl Future<Output = R>) -> R {
    pollster::block_on(work)
}

/// Every installed adapter, opened for the calling thread: a software adapter compiles and runs everything of a device on
/// one thread of its own, so that tests that shared a device would wait for each other.
///
/// # Panics
/// When there is none: a numeric test without an adapter has tested nothing.
pub fn devices() -> &'static [Device] {
    thread_local!(static OWN: Own = Own::take());
    OWN.with(|own| own.0)
}

/// The devices of a thread. When it ends, the next thread takes them over: there are never more than threads at a time.
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
