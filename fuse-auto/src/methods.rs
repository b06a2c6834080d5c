//! The operations of the language as methods of [`LazyTensor`](crate::LazyTensor).
//!
//! Each checks dtypes and ranks, turns axes into positions, and records; extents are checked by `infer`.

mod axes;
mod given;
mod gradient;
mod movement;
mod operators;
mod pointwise;
mod product;
mod reduce;
mod rows;

pub use axes::Over;
pub use gradient::{checkpoint, grad, grad_with};
pub use movement::Extent;

use fuse_artifact::DType;

use crate::{Error, LazyTensor, node::Node};

/// The node of an operand of indices.
fn indices<'n>(value: &'n LazyTensor, operation: &'static str) -> Result<&'n Node, Error> {
    let node = value.node()?;
    if matches!(node.dtype, DType::I32 | DType::U32) {
        return Ok(node);
    }
    let message = format!("takes indices of `i32` or `u32`, found `{}`", node.type_text());
    Err(Error::operation(operation, message, "convert them with `cast`"))
}

/// Requires a rank.
fn require_rank(node: &Node, operation: &'static str, rank: std::ops::RangeInclusive<usize>) -> Result<(), Error> {
    let found = node.shape.len();
    if rank.contains(&found) {
        return Ok(());
    }
    let expected = match (*rank.start(), *rank.end()) {
        (from, to) if from == to => format!("{from} axes"),
        (from, usize::MAX) => format!("at least {from} axes"),
        (from, to) => format!("{from} to {to} axes"),
    };
    let message = format!("takes a value with {expected}, found `{}`", node.type_text());
    Err(Error::operation(operation, message, "`reshape`, `unsqueeze` and `squeeze` change ranks"))
}
