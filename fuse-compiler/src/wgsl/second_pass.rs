//! Second passes: add the partial sums of several workgroups in scratch memory, and apply the epilogue.
//!
//! They add elements of a product (`sums`), whole rows if the epilogue reduces them (`tiles/row_parts`), split tiles
//! (`streams`), or rescaled outputs of an attention (`attention`). Reductions merge states before each stage
//! (`reduction/split`).

mod attention;
mod streams;
mod sums;

use fuse_artifact::{DType, Slot, Space};

use super::{
    epilogue::{Axes, sum_dtype},
    names::Names,
    shader::Shader,
};
use crate::{
    fusion::{Contraction, Group},
    kernel::{Arena, Block, Ty, Val},
};

pub(super) use attention::attention;
pub use streams::streams;
pub use sums::sums;

/// Invocations of a workgroup, each with a result element or vector.
const WORKGROUP: u32 = 256;

pub(super) struct Parts<'k> {
    pub(super) shader: Shader<'k>,
    pub(super) scratch: Val<'k>,
    pub(super) axes: Axes<'k>,
    pub(super) sum: DType,
}

impl<'k> Parts<'k> {
    pub(super) fn new(
        arena: &'k Arena,
        names: &'k Names,
        group: &Group,
        contraction: &Contraction,
        lanes: u32,
    ) -> Self {
        let mut shader = Shader::new(arena, names, group);
        let sum = sum_dtype(group, contraction);
        for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
            shader.buffer(access.access.slot, access.dtype, lanes, false);
        }
        let scratch = shader.buffer(Slot::Scratch, sum, lanes, false);
        let axes = Axes::new(&mut shader, group, contraction);
        Self { shader, scratch, axes, sum }
    }

    fn accumulators(&self, b: &mut Block<'k>, lanes: u32) -> Vec<Val<'k>> {
        let zero = self.shader.arena().construct(Ty::of(self.sum, lanes), &[]);
        self.axes.product_suffixes().into_iter().map(|suffix| b.var(format!("sum{suffix}"), zero)).collect()
    }
}
