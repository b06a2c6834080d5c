//! A matrix row: an output's weights during quantization.

use fuse_artifact::Packing;

use crate::{QuantScheme, pair::Pair};

pub(crate) struct Row<'a> {
    pub(crate) packing: Packing,
    pub(crate) scheme: &'a QuantScheme,
    pub(crate) group: usize,
    pub(crate) weights: &'a [f32],
    pub(crate) codes: Vec<u32>,
    pub(crate) pairs: Vec<Pair>,
}

impl Row<'_> {
    pub(crate) fn value(&self, k: usize) -> f32 {
        self.pairs[k / self.group].value(self.codes[k])
    }
}
