//! Operations of the language as methods of [`LazyTensor`](crate::LazyTensor).
//!
//! They check dtypes and ranks, resolve axes, and record. `shape` checks extents.

pub(crate) mod axes;
mod given;
pub(crate) mod gradient;
pub(crate) mod movement;
mod operators;
mod pointwise;
mod product;
mod reduce;
mod rows;
