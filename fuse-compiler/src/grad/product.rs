//! The derivative of matrix products.
//!
//! Of `y = a·b` it is `g·bᵀ` and `aᵀ·g`. An operand that is repeated along batch axes gets the sum over these. They are not summed
//! after the product but folded into its depth, so that for `[B, S, K] × [K, N]` nothing of `[B, K, N]` ever exists.

use fuse_artifact::Size;

use super::tape::Tape;
use crate::graph::NodeId;

/// The adjoint of the left operand of a product.
pub(super) fn lhs(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], adjoint: NodeId) -> NodeId {
    let (shape, folded) = (tape.shape(lhs), folded(tape, lhs, adjoint));
    // Depth is N, and with it what is folded: rows M of `g` beside rows N of `bᵀ`.
    let g = transposed(tape, adjoint);
    let g = deepened(tape, g, &folded);
    let g = transposed(tape, g);
    let b = transposed(tape, rhs);
    let b = deepened(tape, b, &folded);
    tape.matmul(g, b, shape)
}

/// The adjoint of the right operand of a product.
pub(super) fn rhs(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], adjoint: NodeId) -> NodeId {
    let (shape, folded) = (tape.shape(rhs), folded(tape, rhs, adjoint));
    let a = deepened(tape, lhs, &folded);
    let a = transposed(tape, a);
    let g = deepened(tape, adjoint, &folded);
    tape.matmul(a, g, shape)
}

/// The batch axes along which an operand is repeated.
fn folded(tape: &Tape<'_>, operand: NodeId, adjoint: NodeId) -> Vec<usize> {
    let (have, want) = (tape.shape(operand), tape.shape(adjoint));
    (0..have.len() - 2).filter(|&axis| have[axis].is_one() && !want[axis].is_one()).collect()
}

fn transposed(tape: &mut Tape<'_>, x: NodeId) -> NodeId {
    let rank = tape.shape(x).len();
    let permutation = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    tape.permute(x, permutation)
}

/// `[.., F, .., D, X]` with some batch axes folded into the last axis but one: `[.., 1, .., F·D, X]`.
fn deepened(tape: &mut Tape<'_>, x: NodeId, folded: &[usize]) -> NodeId {
    let shape = tape.shape(x);
    let (rank, is_folded) = (shape.len(), |axis: &usize| folded.contains(axis));
    let kept: Vec<usize> = (0..rank - 2).filter(|axis| !is_folded(axis)).collect();
    let permutation = kept.iter().chain(folded).copied().chain([rank - 2, rank - 1]).collect();
    let moved = tape.permute(x, permutation);
    let mut deep: Vec<Size> = shape.clone();
    for &axis in folded {
        deep[rank - 2] = shape[axis].mul(&deep[rank - 2]);
        deep[axis] = Size::ONE;
    }
    tape.reshape(moved, &deep)
}
