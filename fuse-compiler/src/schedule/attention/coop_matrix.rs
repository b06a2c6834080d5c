//! Tiles of cooperative matrices: subgroups multiply queries with keys, and probabilities with values, all `f16` of 16×16,
//! and sum in `f32`.
//!
//! A subgroup keeps its queries in matrices from the first key to the last. Keys and values pass through workgroup memory in
//! slices that all subgroups share; scores leave their matrices through a strip of it, one matrix per subgroup at a time, and
//! come back as probabilities.

use fuse_artifact::schedule::AttentionCoopMatrix;

use crate::schedule::contraction::coop_matrix::SHARED_UNIT_BYTES;

/// Rows, columns and depth of the matrices.
const SIZE: u32 = AttentionCoopMatrix::SIZE;

/// Subgroups of a workgroup, and keys of a slice: 32 leave two workgroups room on a compute unit (`docs/experiments.md`).
const SUBGROUPS: u32 = 4;
const KEYS: u32 = 32;

/// Queries of a subgroup: 32 are the best for many queries with heads of 64. With shorter and longer heads they took up to 1.9
/// and 1.6 times as long as 16 on an H200, and gained at most 2 %.
const fn rows(head: u32) -> &'static [u32] {
    if head == 64 { &[32, 16] } else { &[16] }
}

/// Depths and columns that whole rows of invocations load.
const SIDES: std::ops::RangeInclusive<u32> = SIZE..=128;

/// The schedules for a depth and a number of value columns.
pub(super) fn tiles(depth: u32, columns: u32) -> Vec<AttentionCoopMatrix> {
    let loads = |side: u32| SIDES.contains(&side) && side.is_power_of_two();
    if !loads(depth) || !loads(columns) {
        return vec![];
    }
    let tile = |&rows: &u32| {
        let subgroups = SUBGROUPS;
        let apart = AttentionCoopMatrix { rows, subgroups, keys: KEYS, depth, columns, own_values: true, split: false };
        AttentionCoopMatrix { own_values: apart.bytes() <= SHARED_UNIT_BYTES, ..apart }
    };
    rows(depth.max(columns)).iter().map(tile).collect()
}
