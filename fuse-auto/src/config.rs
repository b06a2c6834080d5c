//! Configuration of fusion.

use std::collections::BTreeSet;

use fuse_artifact::Packing;
use fuse_runtime::{AdapterKind, Backend, Device, QuantScheme};

use crate::pattern::FusionPattern;

/// Configuration of lazy tensors on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct FusionConfig {
    /// Fuses operations; otherwise each has its own kernel.
    pub enabled: bool,
    /// Fewest elements of a result for which operations are fused; 0 by default. The planner estimates when to
    /// recompute; [`adaptive`](Self::adaptive) measures.
    pub min_tensor_size: usize,
    /// Backends on which operations fuse; `None`: all.
    pub backends: Option<Vec<Backend>>,
    /// Adapter kinds on which operations fuse; `None`: all.
    pub adapter_kinds: Option<Vec<AdapterKind>>,
    /// Enabled kinds of fusion; `None`: all. Intermediates of other kinds are materialized.
    pub enabled_patterns: Option<BTreeSet<FusionPattern>>,
    /// Quantizes weights ([`LazyTensor::weight`](crate::LazyTensor::weight)) where products read them.
    ///
    /// [`Explanation::unquantized`](crate::Explanation::unquantized) and
    /// [`FusionStats::unquantized`](crate::FusionStats::unquantized) list weights that stay unchanged. Not in browsers,
    /// which cannot wait: use `QTensor::quantize_tensor` there.
    pub quantize_weights: Option<WeightQuantization>,
    /// Measures fused and unfused kernels at a graph's third evaluation at about these sizes, for at most 20 ms, and
    /// keeps the faster. Not in browsers, which cannot wait.
    pub adaptive: bool,
    /// Maximum number of operations pending behind one value before it is evaluated.
    pub max_pending: u32,
    /// Maximum bytes of tensors that only pending work keeps alive before it is evaluated.
    ///
    /// Together with an eighth of the device's memory budget it bounds the tensors that values keep alive for
    /// gradients; the oldest drop their inputs first.
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

/// Bits per value and scales of quantized weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightQuantization {
    /// Bits per value (8, 4, 3, 2 or 1) and their layout in words.
    pub packing: Packing,
    /// Quantization scheme. Its axis is ignored: products determine it.
    pub scheme: QuantScheme,
}

impl FusionConfig {
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

/// Variable `FUSE_AUTO`, which overrides every configuration.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Environment {
    Off,
    On,
    /// As `On`, and prints source and plan of new graphs to standard error.
    Explain,
}

#[cfg(not(target_arch = "wasm32"))]
/// `FUSE_AUTO=off|on|explain`, read once. Other values are reported once and ignored.
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
