//! How a device fuses what is recorded on it, and what it knows.

use std::{
    cell::RefCell,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use fuse_runtime::Device;

use crate::graphs::Graphs;

/// How lazy tensors are fused.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionConfig {
    /// Whether operations are fused at all; if not, each has a kernel.
    pub enabled: bool,
    /// The fewest elements of a result for which operations are fused. 0: fusing never loses here.
    pub min_tensor_size: usize,
    /// How many operations may wait behind one value before it is evaluated.
    pub max_pending: u32,
    /// How many bytes of tensors only pending work may keep alive before it is evaluated.
    pub max_pending_bytes: u64,
}

impl Default for FusionConfig {
    fn default() -> Self {
        Self { enabled: true, min_tensor_size: 0, max_pending: 256, max_pending_bytes: 256 << 20 }
    }
}

/// What may wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) operations: u32,
    pub(crate) bytes: u64,
}

/// What lazy tensors keep with a device.
pub(crate) struct Auto {
    config: RwLock<Arc<FusionConfig>>,
    operations: AtomicU32,
    bytes: AtomicU64,
    pub(crate) graphs: Graphs,
}

impl Default for Auto {
    fn default() -> Self {
        let config = FusionConfig::default();
        Self {
            operations: AtomicU32::new(config.max_pending),
            bytes: AtomicU64::new(config.max_pending_bytes),
            config: RwLock::new(Arc::new(config)),
            graphs: Graphs::default(),
        }
    }
}

thread_local! {
    /// The configurations of `with_config` on this thread, the innermost last.
    static OVERRIDES: RefCell<Vec<(Device, Arc<FusionConfig>)>> = const { RefCell::new(vec![]) };
}

impl Auto {
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
    let auto = Auto::of(device);
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
