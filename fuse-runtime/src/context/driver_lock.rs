//! Works around an NVIDIA deadlock: never destroy a device while pipelines compile.
//!
//! NVIDIA's driver for Linux (2026) destroys a device under a process-wide lock, and waits for its own thread, which
//! needs the lock if pipelines compile meanwhile. Parallel tests that each opened a device hung within seconds.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::context::lock::lock;

#[derive(Default)]
struct LockState {
    compiling: usize,
    closing: bool,
}

/// Many threads may compile together; closing excludes all else.
struct Turns {
    state: Mutex<LockState>,
    changed: Condvar,
}

static TURNS: Turns = Turns { state: Mutex::new(LockState { compiling: 0, closing: false }), changed: Condvar::new() };

/// The compiling thread must not close a device.
pub(crate) struct Compiling(&'static Turns);

pub(crate) struct Closing(&'static Turns);

/// Waits until no device is being closed.
pub(crate) fn compiling() -> Compiling {
    TURNS.compiling()
}

/// Waits until nothing is compiled and no other device is being closed.
pub(crate) fn closing() -> Closing {
    TURNS.closing()
}

impl Turns {
    fn compiling(&'static self) -> Compiling {
        self.when(|state| !state.closing, |state| state.compiling += 1);
        Compiling(self)
    }

    fn closing(&'static self) -> Closing {
        self.when(|state| !state.closing && state.compiling == 0, |state| state.closing = true);
        Closing(self)
    }

    fn when(&self, ready: impl Fn(&LockState) -> bool, change: impl FnOnce(&mut LockState)) {
        let state = lock(&self.state);
        let state = self.changed.wait_while(state, |state| !ready(state));
        change(&mut state.unwrap_or_else(PoisonError::into_inner));
    }

    fn end(&self, change: impl FnOnce(&mut LockState)) {
        change(&mut lock(&self.state));
        self.changed.notify_all();
    }
}

impl Drop for Compiling {
    fn drop(&mut self) {
        self.0.end(|state| state.compiling -= 1);
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.end(|state| state.closing = false);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicBool, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn a_device_is_closed_when_nothing_is_compiled() {
        static OWN: Turns =
            Turns { state: Mutex::new(LockState { compiling: 0, closing: false }), changed: Condvar::new() };
        static CLOSED: AtomicBool = AtomicBool::new(false);
        let (first, second) = (OWN.compiling(), OWN.compiling());
        let closer = thread::spawn(|| {
            let turn = OWN.closing();
            CLOSED.store(true, Ordering::SeqCst);
            turn
        });
        drop(first);
        thread::sleep(Duration::from_millis(50));
        assert!(!CLOSED.load(Ordering::SeqCst), "closed while a pipeline is compiled");
        drop(second);
        let turn = closer.join().unwrap();
        let compiler = thread::spawn(|| drop(OWN.compiling()));
        thread::sleep(Duration::from_millis(50));
        assert!(!compiler.is_finished(), "compiled while a device is closed");
        drop(turn);
        compiler.join().unwrap();
    }
}
