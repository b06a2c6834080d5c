//! How operations that are recorded on a device are fused.

use std::collections::BTreeSet;

use fuse_artifact::Packing;
use fuse_runtime::{AdapterKind, Backend, Device, QuantScheme};

use crate::pattern::FusionPattern;

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
