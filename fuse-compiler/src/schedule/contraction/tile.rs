//! Which tiles there is room for: registers and workgroup memory.

use fuse_artifact::schedule::Tile;

/// ContractionSchedule per invocation, of its at most 255 registers on the GPUs that were measured.
const MAX_SUMS: u32 = 128;

/// Workgroup memory that large adapters have.
pub(super) const MAX_SLICE_BYTES: u32 = 48 * 1024;

/// Whether so many products side by side leave registers for the rest of the kernel, and workgroup memory beside `others`, what
/// else is there.
pub(super) const fn holds_beside(tile: &Tile, products: u32, others: u32) -> bool {
    tile.sums(products) <= MAX_SUMS && tile.slice_bytes(products) + others <= MAX_SLICE_BYTES
}

/// VjpPair the depth of a step until the slices of so many products and `others`, what else is in workgroup memory, take at
/// most `bytes`, or the depth is 1.
pub(super) fn shrink_steps(tile: &mut Tile, products: u32, others: u32, bytes: u32) {
    while tile.depth > 1 && tile.slice_bytes(products) + others > bytes {
        tile.depth /= 2;
    }
}
