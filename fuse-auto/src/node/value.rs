//! Values in memory, and how often their memory was written to.

use fuse_runtime::__private::{Arg, RawQuantized, RawTensor};

use crate::config::WeightQuantization;

/// The writes to the memory of an input that had none at recording.
pub(crate) const PENDING: u64 = u64::MAX;

/// A value in memory.
#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) data: Data,
    /// How often its memory had been written to when the value was made.
    pub(crate) writes: u64,
}

/// What a value is.
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

    /// Whether somebody has written to its memory since an operation was recorded that found `recorded` writes.
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

    /// The bytes that are freed when the record forgets it; 0 if somebody else holds it.
    pub(crate) fn own_bytes(&self) -> u64 {
        match self {
            Self::Tensor(tensor) if tensor.lease_holders() == 1 => tensor.bytes(),
            Self::Tensor(_) | Self::Quantized(_) => 0,
        }
    }
}

/// A quantized weight, and what it was made from.
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "a page cannot make it"))]
#[derive(Clone)]
pub(crate) struct QuantizedWeight {
    pub(crate) by: WeightQuantization,
    pub(crate) writes: u64,
    /// The quantized values, or why there are none.
    pub(crate) data: Result<Data, String>,
}
