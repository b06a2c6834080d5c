//! Cooperative-matrix tiles of attention: subgroups multiply 16×16 matrices of `f16` and accumulate in `f32`.
//!
//! A subgroup keeps its queries in matrices. Subgroups share slices of keys and values in workgroup memory. Scores
//! leave their matrices through a strip of it, one matrix per subgroup at a time, and return as probabilities.

use fuse_artifact::schedule::AttentionCoopMatrix;

use crate::schedule::contraction::coop_matrix::SHARED_UNIT_BYTES;

const SIZE: u32 = AttentionCoopMatrix::SIZE;

/// Subgroups per workgroup, and keys per slice: with 32, two workgroups fit on a compute unit (`docs/experiments.md`).
const SUBGROUPS: u32 = 4;
const KEYS: u32 = 32;

/// Queries per subgroup: 32 are best for many queries with heads of 64. On an H200, 32 took up to 1.9 times (shorter
/// heads) and 1.6 times (longer heads) as long as 16, and gained at most 2 %.
const fn rows(head: u32) -> &'static [u32] {
    if head == 64 { &[32, 16] } else { &[16] }
}

/// Depths and columns that whole rows of invocations can load.
const SIDES: std::ops::RangeInclusive<u32> = SIZE..=128;

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
