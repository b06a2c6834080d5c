//! Cooperative-matrix tiles of contractions: subgroups multiply 16×16 or 8×8 matrices of `f16` and accumulate in `f32`.
//!
//! Slices keep their operand's layout in workgroup memory. Accumulators leave the matrices through it, one matrix per
//! subgroup at a time, so that epilogues see rows and columns.

use fuse_artifact::schedule::{Mainloop, Tile};

use super::{Aligned, k_aligned};

/// Cooperative-matrix tiles: 16×16 from a sweep (`docs/experiments.md`), 8×8 untested for lack of an adapter. Tiles
/// without whole steps serve few rows or columns and any depth. Intermediate sizes gain nothing for `grouped` products
/// or with split-K.
pub(super) const TILES: &[Aligned] = &[
    Aligned { tile: k_aligned(tile(16, [32, 32, 128], [16, 16])), split: true, grouped: false },
    Aligned { tile: k_aligned(tile(16, [32, 64, 128], [16, 32])), split: false, grouped: true },
    Aligned { tile: k_aligned(tile(16, [32, 32, 64], [16, 16])), split: false, grouped: false },
    Aligned { tile: k_aligned(tile(16, [64, 64, 64], [32, 32])), split: true, grouped: true },
    Aligned { tile: LARGEST, split: true, grouped: true },
    Aligned { tile: k_aligned(tile(16, [128, 64, 64], [64, 32])), split: false, grouped: false },
    Aligned { tile: tile(16, [32, 64, 32], [16, 32]), split: true, grouped: true },
    Aligned { tile: k_aligned(tile(8, [64, 64, 32], [32, 32])), split: false, grouped: true },
    Aligned { tile: tile(8, [32, 32, 32], [16, 16]), split: true, grouped: false },
];

const LARGEST: Tile = k_aligned(tile(16, [128, 128, 32], [64, 64]));

const fn tile(matrices: u32, [rows, columns, depth]: [u32; 3], subgroup: [u32; 2]) -> Tile {
    Tile { mainloop: Mainloop::CoopMatrix(matrices), ..Tile::new(rows, columns, depth, subgroup) }
}

/// Maximum workgroup memory with which two workgroups share a compute unit of the measured GPU. With more, large
/// products take twice as long (`docs/experiments.md`).
pub(in crate::schedule) const SHARED_UNIT_BYTES: u32 = 24 * 1024;

const _: () = assert!(LARGEST.slice_bytes(1) <= SHARED_UNIT_BYTES, "padding of sums would take more");
