//! Second passes: several workgroups shared a sum, and its parts are in scratch memory.
//!
//! A pass adds them and applies the epilogue: of the elements of a product (`sums`), of whole rows where the epilogue reduces them
//! (`rows`, the text of a tile with parts in place of products), of tiles whose depths were cut (`streams`), of an attention, whose
//! parts are scaled first (`attention`). Reductions take states of parts together before each stage that needs them
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
use crate::fusion::{Contraction, Group};

pub use super::tiles::row_parts as rows;
pub(super) use attention::attention;
pub use streams::streams;
pub use sums::sums;

/// Invocations of a workgroup, each with an element or a vector of four of the result.
const WORKGROUP: u32 = 256;

/// A second pass of products, with what it reads.
pub(super) struct Parts<'a> {
    pub(super) shader: Shader<'a>,
    /// The buffer of the parts.
    pub(super) scratch: String,
    pub(super) axes: Axes,
    /// The dtype of sums.
    pub(super) sum: DType,
}

impl<'a> Parts<'a> {
    /// A shader that reads the parts and what the epilogue reads, so many lanes at a time.
    pub(super) fn new(names: &'a Names, group: &Group, contraction: &Contraction, lanes: u32) -> Self {
        let mut shader = Shader::new(names, group);
        let sum = sum_dtype(group, contraction);
        for access in group.accesses.iter().filter(|access| access.access.space == Space::Point) {
            shader.buffer(access.access.slot, access.dtype, lanes, false);
        }
        let scratch = shader.buffer(Slot::Scratch, sum, lanes, false);
        let axes = Axes::new(&mut shader, group, contraction);
        Self { shader, scratch, axes, sum }
    }
}
