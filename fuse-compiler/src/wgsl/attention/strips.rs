//! How matrices lie on the strips of workgroup memory through which invocations see their elements: four neighboring
//! invocations have four neighboring elements of a row each, of two rows of every matrix.

use fuse_artifact::schedule::{AttentionCoopMatrix, LANES};

/// Rows, columns and depth of the matrices.
pub(in crate::wgsl) const SIZE: u32 = AttentionCoopMatrix::SIZE;
/// Vectors of four of a matrix.
pub(in crate::wgsl) const VECTORS: u32 = AttentionCoopMatrix::VECTORS;

/// Rows of a matrix of which an invocation has a vector, one this far from the other.
pub(in crate::wgsl) const HALVES: u32 = 2;
/// Rows of a half.
pub(in crate::wgsl) const HALF_ROWS: u32 = SIZE / HALVES;

/// Vectors of a half of a matrix.
pub(in crate::wgsl) const HALF_VECTORS: u32 = VECTORS / HALVES;

/// Vectors of a row of the matrix on a strip.
pub(in crate::wgsl) const STRIP_LINE: u32 = SIZE / LANES;
