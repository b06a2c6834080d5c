//! How a device fuses what is recorded on it, and what it knows.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use fuse_artifact::Packing;
use fuse_runtime::{AdapterKind, Backend, Device, QuantScheme};

use crate::{adaptive::Adaptive, graphs::Graphs, memory::Memory, pattern::FusionPattern};

/// How lazy tensors are fused.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionConfig {
    /// Whether operations are fused at all; if not, each has a kernel.
    pub enabled: bool,
    /// The fewest elements of a result for which operations are fused; 0 unless set. The planner stores values where it takes
    /// computing them again for dearer, and may be wrong: [`adaptive`](Self::adaptive) measures both.
    pub min_tensor_size: usize,
    /// The backends on which operations are fused; `None`: on all.
    pub backends: Option<Vec<Backend>>,
    /// The kinds of adapters on which operations are fused; `None`: on all.
    pub adapter_kinds: Option<Vec<AdapterKind>>,
    /// The kinds of fusion that are wanted; values within another one go through memory. `None`: all.
    pub enabled_patterns: Option<BTreeSet<FusionPattern>>,
    /// How tensors that were made by [`LazyTensor::weight`](crate::LazyTensor::weight) are quantized where products read them. A
    /// weight that cannot be quantized stays as it is: [`Explanation::unquantized`](crate::Explanation::unquantized) and
    /// [`FusionStats::unquantized`](crate::FusionStats::unquantized) say which, and why. Not in browsers, which cannot wait: there,
    /// make them with `QTensor::quantize_tensor`.
    pub quantize_weights: Option<WeightQuantization>,
    /// Whether fused and unfused kernels are measured at the third evaluation of a graph with about these sizes, for at most 20 ms,
    /// and the faster ones stay. Not in browsers, which cannot wait.
    pub adaptive: bool,
    /// How many operations may wait behind one value before it is evaluated.
    pub max_pending: u32,
    /// How many bytes of tensors only pending work may keep alive before it is evaluated; also those that only values keep alive for
    /// gradients, before the oldest forget how they were computed. Of these at most an eighth of the device's memory budget.
    pub max_pending_bytes: u64,
}

impl Default for FusionConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            min_tensor_size: 0,
            backends: None,
            adapter_kinds: None,
            enabled_patterns: None,
            quantize_weights: None,
            adaptive: false,
            max_pending: 256,
            max_pending_bytes: 256 << 20,
        }
    }
}

/// How weights are quantized: bits for each value, and what they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightQuantization {
    /// The bits of a value, 8, 4, 3, 2 or 1, and how they lie in words.
    pub packing: Packing,
    /// How values are chosen. The axis is the one that the product sums over.
    pub scheme: QuantScheme,
}

impl FusionConfig {
    /// Whether operations with a result of so many elements are fused on a device.
    pub(crate) fn fuses(&self, device: &Device, elements: usize) -> bool {
        let info = device.info();
        #[cfg(not(target_arch = "wasm32"))]
        let enabled = match environment() {
            Some(Environment::Off) => false,
            Some(Environment::On | Environment::Explain) => true,
            None => self.enabled,
        };
        #[cfg(target_arch = "wasm32")]
        let enabled = self.enabled;
        enabled
            && elements >= self.min_tensor_size
            && self.backends.as_ref().is_none_or(|backends| backends.contains(&info.backend))
            && self.adapter_kinds.as_ref().is_none_or(|kinds| kinds.contains(&info.kind))
    }
}

/// What `FUSE_AUTO` says, above every configuration. Browsers have no environment.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Environment {
    Off,
    On,
    /// On, and what new graphs become is printed to standard error.
    Explain,
}

#[cfg(not(target_arch = "wasm32"))]
/// `FUSE_AUTO=off|on|explain`, read once. Another value is told once, and ignored.
pub(crate) fn environment() -> Option<Environment> {
    static READ: std::sync::OnceLock<Option<Environment>> = std::sync::OnceLock::new();
    *READ.get_or_init(|| match std::env::var("FUSE_AUTO").ok()?.as_str() {
        "off" => Some(Environment::Off),
        "on" => Some(Environment::On),
        "explain" => Some(Environment::Explain),
        "" => None,
        other => {
            eprintln!("FUSE_AUTO={other} is ignored: it is `off`, `on` or `explain`");
            None
        }
    })
}

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
