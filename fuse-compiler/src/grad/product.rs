//! Adjoints of matrix products.
//!
//! For `y = a·b` they are `g·bᵀ` and `aᵀ·g`, summed over batch axes along which the operand broadcasts. The sum folds
//! into the product's depth, so for `[B, S, K] × [K, N]` nothing of `[B, K, N]` exists. If the other factor must not be
//! stored, as in an attention ([`Role`]), it follows the product.

use fuse_artifact::Size;

use super::tape::Tape;
use crate::graph::{NodeId, Op, ReduceOp};

/// Role of a product, which places sums over batch axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Sums are part of the depth.
    Plain,
    /// Scores of an attention: their adjoint must not be stored, so sums follow.
    Scores,
    /// Output of an attention: the left operand must not be stored.
    Output,
}

pub(super) fn lhs(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], adjoint: NodeId, role: Role) -> NodeId {
    let (shape, folded) = (tape.shape(lhs), folded(tape, lhs, adjoint));
    if role != Role::Plain {
        let b = transposed(tape, rhs);
        return summed(tape, [adjoint, b], &shape, &folded);
    }
    // N and the folded axes become the depth.
    let g = transposed(tape, adjoint);
    let g = deepened(tape, g, &folded);
    let g = transposed(tape, g);
    let b = transposed(tape, rhs);
    let b = deepened(tape, b, &folded);
    tape.matmul(g, b, shape)
}

/// Adjoint of the right operand.
///
/// For a transposed one, `gᵀ·a` is its operand's adjoint, with the scores' adjoint on the left, as in an attention.
pub(super) fn rhs(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], adjoint: NodeId, role: Role) -> NodeId {
    let (mut shape, folded) = (tape.shape(rhs), folded(tape, rhs, adjoint));
    let exchanged = match role {
        Role::Plain => is_transposed(tape, rhs),
        Role::Scores => true,
        Role::Output => false,
    };
    if exchanged {
        let rank = shape.len();
        shape.swap(rank - 2, rank - 1);
    }
    let (a, g) = match role {
        Role::Plain => (deepened(tape, lhs, &folded), deepened(tape, adjoint, &folded)),
        Role::Scores | Role::Output => (lhs, adjoint),
    };
    let factors = if exchanged { [transposed(tape, g), a] } else { [transposed(tape, a), g] };
    let product = match role {
        Role::Plain => tape.matmul(factors[0], factors[1], shape),
        Role::Scores | Role::Output => summed(tape, factors, &shape, &folded),
    };
    if exchanged { transposed(tape, product) } else { product }
}

fn summed(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], shape: &[Size], folded: &[usize]) -> NodeId {
    let mut whole = shape.to_vec();
    for &axis in folded {
        whole[axis] = tape.shape(lhs)[axis].clone();
        if whole[axis].is_one() {
            whole[axis] = tape.shape(rhs)[axis].clone();
        }
    }
    let product = tape.matmul(lhs, rhs, whole);
    tape.reduce(ReduceOp::Sum, product, folded)
}

fn is_transposed(tape: &Tape<'_>, x: NodeId) -> bool {
    let Op::Permute { ref permutation, .. } = tape.graph.nodes[x].op else { return false };
    let rank = permutation.len();
    permutation.iter().copied().eq((0..rank - 2).chain([rank - 1, rank - 2]))
}

fn folded(tape: &Tape<'_>, operand: NodeId, adjoint: NodeId) -> Vec<usize> {
    let (have, want) = (tape.shape(operand), tape.shape(adjoint));
    (0..have.len() - 2).filter(|&axis| have[axis].is_one() && !want[axis].is_one()).collect()
}

fn transposed(tape: &mut Tape<'_>, x: NodeId) -> NodeId {
    let rank = tape.shape(x).len();
    let permutation = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    tape.permute(x, permutation)
}

/// Folds batch axes: `[.., F, .., D, X]` becomes `[.., 1, .., F·D, X]`.
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
