//! Kernels of products with few rows or few results: invocations share the depth.
//!
//! They read right operands by value (`elements`, or `dot` with one group per result) or quantized weights by whole
//! words (`packed`), optionally multiplied as integers with 8-bit left operands (`int8`). `k_groups` lays out
//! invocations and sums over groups.

mod dot;
mod elements;
mod int8;
mod k_groups;
mod packed;
mod runs;

use fuse_artifact::{
    Pass,
    schedule::{Gemv, GemvRhs, GemvRows, LANES},
};

use self::k_groups::KGroups;
use super::names::Names;
use crate::{
    fusion::{Contraction, Group},
    kernel::Val,
};

/// The first pass of a gemv.
pub fn gemv(group: &Group, contraction: &Contraction, names: &Names, gemv: Gemv) -> Pass {
    let k_groups = KGroups(gemv);
    match (gemv.rows, gemv.rhs) {
        (GemvRows::AtMost { .. }, GemvRhs::Elements { k_aligned: true }) => {
            elements::k_aligned(group, contraction, names, k_groups)
        }
        (GemvRows::AtMost { .. }, GemvRhs::Elements { k_aligned: false }) => {
            elements::masked(group, contraction, names, k_groups)
        }
        (GemvRows::One, GemvRhs::Elements { .. }) => dot::dot(group, contraction, names, gemv),
        (_, GemvRhs::Packed { .. } | GemvRhs::Int8 { .. }) => packed::packed(group, contraction, names, k_groups),
    }
}

fn element<'k>(vectors: &[Val<'k>], i: u32) -> Val<'k> {
    vectors[(i / LANES) as usize].at(i % LANES)
}
