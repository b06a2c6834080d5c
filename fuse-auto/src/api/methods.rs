//! The operations of the language as methods of [`LazyTensor`](crate::LazyTensor).
//!
//! Each checks dtypes and ranks, turns axes into positions, and records; extents are checked by `shape`.

pub(crate) mod axes;
mod given;
pub(crate) mod gradient;
pub(crate) mod movement;
mod operators;
mod pointwise;
mod product;
mod reduce;
mod rows;
