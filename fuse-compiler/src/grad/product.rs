//! The derivative of matrix products.
//!
//! Of `y = a·b` it is `g·bᵀ` and `aᵀ·g`. An operand that is repeated along batch axes gets the sum over these. They are not summed
//! after the product but folded into its depth, so that for `[B, S, K] × [K, N]` nothing of `[B, K, N]` ever exists. Where the
//! other factor is what must not be stored, as in an attention ([`Role`]), they are summed after it.

use fuse_artifact::Size;

use super::tape::Tape;
use crate::graph::{NodeId, Op, ReduceOp};

/// What a product is to those around it, which decides where repeated batch axes are summed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing special: sums over batch axes are part of the depth.
    Plain,
    /// Scores of an attention: its adjoint is not to be stored, so that such sums follow the product.
    Scores,
    /// Probabilities and values of an attention: the left operand is not to be stored.
    Output,
}

/// The adjoint of the left operand of a product.
pub(super) fn lhs(tape: &mut Tape<'_>, [lhs, rhs]: [NodeId; 2], adjoint: NodeId, role: Role) -> NodeId {
    let (shape, folded) = (tape.shape(lhs), folded(tape, lhs, adjoint));
    if role != Role::Plain {
        let b = transposed(tape, rhs);
        return summed(tape, [adjoint, b], &shape, &folded);
    }
    // Depth is N, and with it what is folded: rows M of `g` beside rows N of `bᵀ`.
    let g = transposed(tape, adjoint);
    let g = deepened(tape, g, &folded);
    let g = transposed(tape, g);
    let b = transposed(tape, rhs);
    let b = deepened(tape, b, &folded);
    tape.matmul(g, b, shape)
}

/// The adjoint of the right operand of a product. Of one that is a transposed value, `gᵀ·a` is that value's; and scores
/// are a left operand, as of an attention.
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

/// A product, summed over the axes that are to have extent 1.
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

/// Whether a value exchanges the last two axes of another.
fn is_transposed(tape: &Tape<'_>, x: NodeId) -> bool {
    let Op::Permute { ref permutation, .. } = tape.graph.nodes[x].op else { return false };
    let rank = permutation.len();
    permutation.iter().copied().eq((0..rank - 2).chain([rank - 1, rank - 2]))
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
