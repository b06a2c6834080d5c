//! Tiles of cooperative matrices: subgroups multiply `f16` matrices of 16×16 or 8×8 and sum in `f32`.
//!
//! Slices of the operands lie in workgroup memory as they lie in memory, row by row or column by column. ContractionSchedule come out of
//! matrices through workgroup memory, one matrix per subgroup at a time, so that epilogues see rows and columns.

use fuse_artifact::schedule::{Mainloop, Tile};

use super::{Aligned, k_aligned};

/// The schedules for matrices of 16×16 are the best of a sweep (`docs/experiments.md`); those for 8×8, which no adapter at
/// hand has, are priors. Tiles without whole steps serve few rows or columns and any depth. Sizes between others gain nothing
/// where products have workgroups of their own, nor where workgroups share the depth.
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

/// The tile of large products.
const LARGEST: Tile = k_aligned(tile(16, [128, 128, 32], [64, 64]));

const fn tile(matrices: u32, [rows, columns, depth]: [u32; 3], subgroup: [u32; 2]) -> Tile {
    Tile { mainloop: Mainloop::CoopMatrix(matrices), ..Tile::new(rows, columns, depth, subgroup) }
}

/// Workgroup memory up to which two workgroups share a compute unit of the GPU that was measured. Above it, large products take
/// twice as long (`docs/experiments.md`).
pub(in crate::schedule) const SHARED_UNIT_BYTES: u32 = 24 * 1024;

const _: () = assert!(LARGEST.slice_bytes(1) <= SHARED_UNIT_BYTES, "padding of sums would take more");
