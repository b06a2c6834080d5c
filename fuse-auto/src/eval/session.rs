//! Sessions: the configuration and the caches of a device.

use std::{
    cell::RefCell,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use fuse_runtime::Device;

use crate::{
    cache::{adaptive::Adaptive, graphs::Graphs, memory::Memory},
    config::FusionConfig,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) operations: u32,
    pub(crate) bytes: u64,
}

pub(crate) struct Session {
    config: RwLock<Arc<FusionConfig>>,
    operations: AtomicU32,
    bytes: AtomicU64,
    pub(crate) graphs: Graphs,
    pub(crate) memory: Memory,
    pub(crate) adaptive: Adaptive,
}

impl Default for Session {
    fn default() -> Self {
        let config = FusionConfig::default();
        Self {
            operations: AtomicU32::new(config.max_pending),
            bytes: AtomicU64::new(config.max_pending_bytes),
            config: RwLock::new(Arc::new(config)),
            graphs: Graphs::default(),
            memory: Memory::default(),
            adaptive: Adaptive::default(),
        }
    }
}

thread_local! {
    /// Configurations of nested `with_config` calls on this thread, innermost last.
    static OVERRIDES: RefCell<Vec<(Device, Arc<FusionConfig>)>> = const { RefCell::new(vec![]) };
}

impl Session {
    pub(crate) fn of(device: &Device) -> &Self {
        device.attached::<Self>()
    }

    /// Limits of pending work, which `with_config` leaves: recording would have to look it up.
    pub(crate) fn limits(&self) -> Limits {
        Limits { operations: self.operations.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    pub(crate) fn config(&self, device: &Device) -> Arc<FusionConfig> {
        let inner = OVERRIDES.try_with(|overrides| {
            let overrides = overrides.borrow();
            overrides.iter().rev().find(|(of, _)| of.is(device)).map(|(_, config)| Arc::clone(config))
        });
        inner.ok().flatten().unwrap_or_else(|| Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Configures later evaluations on a device.
pub fn configure(device: &Device, config: FusionConfig) {
    let auto = Session::of(device);
    auto.operations.store(config.max_pending.max(1), Ordering::Relaxed);
    auto.bytes.store(config.max_pending_bytes, Ordering::Relaxed);
    *auto.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
}

/// Runs `work` with another configuration for this thread's evaluations on a device. The limits of pending work stay
/// those of [`configure`].
pub fn with_config<R>(device: &Device, config: FusionConfig, work: impl FnOnce() -> R) -> R {
    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            _ = OVERRIDES.try_with(|overrides| overrides.borrow_mut().pop());
        }
    }

    OVERRIDES.with(|overrides| overrides.borrow_mut().push((device.clone(), Arc::new(config))));
    let _guard = Guard;
    work()
}
