//! Sessions: the configuration of a device, and its caches.

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

/// What may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) operations: u32,
    pub(crate) bytes: u64,
}

/// What lazy tensors keep with a device.
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
    /// The configurations of `with_config` on this thread, the innermost last.
    static OVERRIDES: RefCell<Vec<(Device, Arc<FusionConfig>)>> = const { RefCell::new(vec![]) };
}

impl Session {
    pub(crate) fn of(device: &Device) -> &Self {
        device.attached::<Self>()
    }

    /// What may wait; `with_config` does not change it, since recording would have to look for it.
    pub(crate) fn limits(&self) -> Limits {
        Limits { operations: self.operations.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// The configuration that holds for this thread.
    pub(crate) fn config(&self, device: &Device) -> Arc<FusionConfig> {
        let inner = OVERRIDES.try_with(|overrides| {
            let overrides = overrides.borrow();
            overrides.iter().rev().find(|(of, _)| of.is(device)).map(|(_, config)| Arc::clone(config))
        });
        inner.ok().flatten().unwrap_or_else(|| Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Changes how what is evaluated on a device is fused, from now on.
pub fn configure(device: &Device, config: FusionConfig) {
    let auto = Session::of(device);
    auto.operations.store(config.max_pending.max(1), Ordering::Relaxed);
    auto.bytes.store(config.max_pending_bytes, Ordering::Relaxed);
    *auto.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
}

/// Runs `work` with another configuration for what this thread evaluates on a device. Limits of what may wait stay those of
/// [`configure`].
pub fn with_config<R>(device: &Device, config: FusionConfig, work: impl FnOnce() -> R) -> R {
    /// Ends the override, also if `work` panics.
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
