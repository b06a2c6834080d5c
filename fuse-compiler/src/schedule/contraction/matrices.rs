//! Tiles of cooperative matrices: subgroups multiply `f16` matrices of 16×16 or 8×8 and sum in `f32`.
//!
//! Slices of the operands lie in workgroup memory as they lie in memory, row by row or column by column. Sums come out of
//! matrices through workgroup memory, one matrix per subgroup at a time, so that epilogues see rows and columns.

use super::{LANES, Tile};

/// Tiles with whether they come with a split twin. The members for matrices of 16×16 are the best of a sweep
/// (`docs/experiments.md`); those for 8×8, which no adapter at hand has, are priors. Tiles without whole steps serve few
/// rows or columns and any depth.
pub(super) const TILES: &[(Tile, bool)] = &[
    (tile(16, [32, 32, 128], [16, 16]).in_whole_steps(), true),
    (tile(16, [32, 64, 128], [16, 32]).in_whole_steps(), true),
    (tile(16, [32, 32, 64], [16, 16]).in_whole_steps(), true),
    (tile(16, [64, 64, 64], [32, 32]).in_whole_steps(), true),
    (LARGEST, true),
    (tile(16, [128, 64, 64], [64, 32]).in_whole_steps(), false),
    (tile(16, [32, 64, 32], [16, 32]), true),
    (tile(8, [64, 64, 32], [32, 32]).in_whole_steps(), false),
    (tile(8, [32, 32, 32], [16, 16]), true),
];

/// The tile of large products.
const LARGEST: Tile = tile(16, [128, 128, 32], [64, 64]).in_whole_steps();

const fn tile(matrices: u32, [rows, columns, depth]: [u32; 3], subgroup: [u32; 2]) -> Tile {
    Tile { matrices, ..Tile::new(rows, columns, depth, subgroup, LANES) }
}

/// Workgroup memory up to which two workgroups share a compute unit of the GPU that was measured. Above it, large products take
/// twice as long (`docs/experiments.md`).
pub(in crate::schedule) const SHARED_UNIT_BYTES: u32 = 24 * 1024;

const _: () = assert!(bytes(&LARGEST, 1) <= SHARED_UNIT_BYTES, "padding of sums would take more");

/// Padding of a row or column of a slice in elements: 16 bytes keep rows aligned and spread them over the banks.
pub(crate) const SLICE_PAD: u32 = 8;

/// Bytes of workgroup memory: slices of the operands, and a matrix of sums per subgroup and product.
pub(super) const fn bytes(tile: &Tile, products: u32) -> u32 {
    let slices = slice_elements(tile.rows, tile.depth) + products * slice_elements(tile.columns, tile.depth);
    2 * slices + 4 * products * subgroups(tile) * matrix_elements(tile)
}

/// The most elements that a slice takes, in either direction.
const fn slice_elements(span: u32, depth: u32) -> u32 {
    let (along_depth, along_span) = (span * (depth + SLICE_PAD), depth * (span + SLICE_PAD));
    if along_depth > along_span { along_depth } else { along_span }
}

/// Subgroups of a workgroup.
pub(crate) const fn subgroups(tile: &Tile) -> u32 {
    (tile.rows / tile.invocation_rows) * (tile.columns / tile.invocation_columns)
}

/// Elements of a matrix of sums in workgroup memory.
pub(crate) const fn matrix_elements(tile: &Tile) -> u32 {
    tile.matrices * tile.matrices
}
