//! Resource limits of tiles: registers and workgroup memory.

use fuse_artifact::schedule::Tile;

/// Maximum accumulators per invocation, of at most 255 registers on the measured GPUs.
const MAX_SUMS: u32 = 128;

/// Workgroup memory of large adapters, in bytes.
pub(super) const MAX_SLICE_BYTES: u32 = 48 * 1024;

/// True if the accumulators fit in registers, and slices plus `others` bytes in workgroup memory.
pub(super) const fn holds_beside(tile: &Tile, products: u32, others: u32) -> bool {
    tile.sums(products) <= MAX_SUMS && tile.slice_bytes(products) + others <= MAX_SLICE_BYTES
}

pub(super) fn shrink_steps(tile: &mut Tile, products: u32, others: u32, bytes: u32) {
    while tile.depth > 1 && tile.slice_bytes(products) + others > bytes {
        tile.depth /= 2;
    }
}
