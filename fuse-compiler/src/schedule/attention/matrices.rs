//! Tiles of cooperative matrices: subgroups multiply queries with keys, and probabilities with values, all `f16` of 16×16,
//! and sum in `f32`.
//!
//! A subgroup keeps its queries in matrices from the first key to the last. Keys and values pass through workgroup memory in
//! slices that all subgroups share; scores leave their matrices through a strip of it, one matrix per subgroup at a time, and
//! come back as probabilities.

use fuse_artifact::schedule::AttentionMatrices;

use crate::schedule::contraction::matrices::SHARED_UNIT_BYTES;

/// Rows, columns and depth of the matrices.
const SIZE: u32 = AttentionMatrices::SIZE;

/// Rows and subgroups of the members: the best for many queries, and half as many queries for fewer. Slices of 32 keys leave
/// two workgroups room on a compute unit (`docs/experiments.md`).
const TILES: [(u32, u32); 2] = [(32, 4), (16, 4)];

const KEYS: u32 = 32;

/// Depths and columns that whole rows of invocations load.
const SIDES: std::ops::RangeInclusive<u32> = SIZE..=128;

/// The members for a depth and a number of value columns.
pub(super) fn tiles(depth: u32, columns: u32) -> Vec<AttentionMatrices> {
    let loads = |side: u32| SIDES.contains(&side) && side.is_power_of_two();
    if !loads(depth) || !loads(columns) {
        return vec![];
    }
    let tile = |(rows, subgroups)| {
        let apart = AttentionMatrices { rows, subgroups, keys: KEYS, depth, columns, own_values: true, split: false };
        AttentionMatrices { own_values: apart.bytes() <= SHARED_UNIT_BYTES, ..apart }
    };
    TILES.into_iter().map(tile).collect()
}
