//! The derivatives of movements: slices, and elements at computed places.

use fuse_artifact::{DType, Size};

use super::{Marks, Obstacle, tape::Tape};
use crate::{
    graph::{CompareOp, NodeId, Op, ReduceOp, verify::MAX_RANK},
    operations::BinaryOp,
};

/// Of `x[start ..]` along an axis: what the slice's elements get, and 0 beside them.
pub(super) fn slice(tape: &mut Tape<'_>, x: NodeId, (axis, start): (usize, &Size), adjoint: NodeId) -> NodeId {
    let (shape, extent) = (tape.shape(x), tape.shape(adjoint)[axis].clone());
    let place = tape.index(axis, &shape);
    let start = tape.size(start, &shape);
    let place = tape.binary(BinaryOp::Sub, place, start);
    from_place(tape, adjoint, axis, place, &extent)
}

/// Of elements at computed places: each element gets the sum of what is read from it.
pub(super) fn take(
    tape: &mut Tape<'_>,
    (id, x): (NodeId, NodeId),
    (axis, index): (usize, NodeId),
    adjoint: NodeId,
    marks: &Marks,
) -> Result<NodeId, Obstacle> {
    let (shape, extent) = (tape.shape(x), tape.shape(adjoint)[axis].clone());
    if marks.moved.contains(&id)
        && let Some(place) = inverse(tape, axis, index, &shape)
    {
        return Ok(from_place(tape, adjoint, axis, place, &extent));
    }
    // For each element of `x` a walk over all places in order, so that the sum has the same bits every time: a reduction along an
    // axis of its own.
    if shape.len() == MAX_RANK {
        return Err(Obstacle::Missing(id));
    }
    let with = |shape: &[Size], at: usize, extent: Size| {
        let mut shape = shape.to_vec();
        shape.insert(at, extent);
        shape
    };
    let taken = tape.shape(adjoint);
    let (own, whole) = (axis, with(&taken, axis, shape[axis].clone()));
    let [index, adjoint] = [index, adjoint].map(|value| {
        let lifted = tape.reshape(value, &with(&taken, own, Size::ONE));
        tape.broadcast(lifted, &whole)
    });
    let zero = tape.size(&Size::default(), &whole);
    let end = tape.size(&shape[axis], &whole);
    let one = tape.size(&Size::ONE, &whole);
    let last = tape.binary(BinaryOp::Sub, end, one);
    let clamped = tape.binary(BinaryOp::Max, index, zero);
    let clamped = tape.binary(BinaryOp::Min, clamped, last);
    let place = tape.index(own, &whole);
    let read = tape.compare(CompareOp::Eq, clamped, place);
    let parts = tape.where_true(read, adjoint);
    let sum = tape.reduce(ReduceOp::Sum, parts, &[own + 1]);
    Ok(tape.reshape(sum, &shape))
}

/// `adjoint` at computed places along an axis, 0 where there are none.
fn from_place(tape: &mut Tape<'_>, adjoint: NodeId, axis: usize, place: NodeId, extent: &Size) -> NodeId {
    let shape = tape.shape(place);
    let zero = tape.size(&Size::default(), &shape);
    let end = tape.size(extent, &shape);
    let behind_start = tape.compare(CompareOp::Ge, place, zero);
    let before_end = tape.compare(CompareOp::Lt, place, end);
    let inside = tape.push(Op::Binary(BinaryOp::And, behind_start, before_end), DType::Bool, shape);
    let taken = tape.take(adjoint, axis, place);
    tape.where_true(inside, taken)
}

/// Where the element at each place of `shape` went, if the index is the coordinate, or it less a number, or a number less it.
fn inverse(tape: &mut Tape<'_>, axis: usize, index: NodeId, shape: &[Size]) -> Option<NodeId> {
    let is_place = |tape: &Tape<'_>, id: NodeId| tape.graph.nodes[id].op == Op::Index { axis };
    let number = |tape: &Tape<'_>, id: NodeId| match tape.graph.nodes[id].op {
        Op::Broadcast(number) if tape.shape(number).is_empty() => Some(number),
        Op::Literal(_) | Op::Size(_) => Some(id),
        _ => None,
    };
    let (x, y) = match tape.graph.nodes[index].op {
        Op::Index { axis: along } if along == axis => return Some(tape.index(axis, shape)),
        Op::Binary(BinaryOp::Sub, x, y) => (x, y),
        _ => return None,
    };
    let (number, back) = match (is_place(tape, x), is_place(tape, y)) {
        (true, false) => (number(tape, y)?, true),
        (false, true) => (number(tape, x)?, false),
        _ => return None,
    };
    let number = tape.broadcast(number, shape);
    let place = tape.index(axis, shape);
    Some(if back { tape.add(place, number) } else { tape.sub(number, place) })
}
