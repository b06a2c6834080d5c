//! Values in memory, with write counts.

use fuse_runtime::__private::{Arg, RawQuantized, RawTensor};

use crate::config::WeightQuantization;

/// Write count of an input without memory.
pub(crate) const PENDING: u64 = u64::MAX;

#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) data: Data,
    /// Writes to its memory when the value was made.
    pub(crate) writes: u64,
}

#[derive(Clone)]
pub(crate) enum Data {
    Tensor(RawTensor),
    Quantized(RawQuantized),
}

impl Value {
    pub(crate) fn new(data: Data) -> Self {
        let writes = data.writes();
        Self { data, writes }
    }

    pub(crate) fn changed_since(&self, recorded: u64) -> bool {
        let known = if recorded == PENDING { self.writes } else { recorded };
        self.data.writes() != known
    }
}

impl Data {
    pub(crate) fn writes(&self) -> u64 {
        match self {
            Self::Tensor(tensor) => tensor.writes(),
            Self::Quantized(tensor) => tensor.words().writes() + tensor.scales().writes(),
        }
    }

    pub(crate) fn arg(&self) -> Arg<'_> {
        match self {
            Self::Tensor(tensor) => Arg::Tensor(tensor),
            Self::Quantized(tensor) => Arg::Quantized(tensor),
        }
    }

    /// Bytes freed when the record drops it.
    pub(crate) fn own_bytes(&self) -> u64 {
        match self {
            Self::Tensor(tensor) if tensor.lease_holders() == 1 => tensor.bytes(),
            Self::Tensor(_) | Self::Quantized(_) => 0,
        }
    }
}

#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page cannot make it"))]
#[derive(Clone)]
pub(crate) struct QuantizedWeight {
    pub(crate) by: WeightQuantization,
    pub(crate) writes: u64,
    pub(crate) data: Result<Data, String>,
}
