//! The derivatives of movements: slices, and elements at computed places.

use fuse_artifact::{DType, Size};

use super::{Marks, tape::Tape};
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

/// Of elements at computed places: each element gets the sum of what is read from it. With the value that it is the adjoint of:
/// the operand, or what a broadcast repeats to make it.
pub(super) fn take(
    tape: &mut Tape<'_>,
    (id, x): (NodeId, NodeId),
    (axis, index): (usize, NodeId),
    adjoint: NodeId,
    marks: &Marks,
) -> (NodeId, NodeId) {
    let (shape, extent) = (tape.shape(x), tape.shape(adjoint)[axis].clone());
    if marks.moved.contains(&id)
        && let Some(place) = inverse(tape, axis, index, &shape)
    {
        return (x, from_place(tape, adjoint, axis, place, &extent));
    }
    // A table is repeated along all but one of the axes of its indices: nothing as large as that needs to exist.
    let (operand, repeated) = repeated(tape, x, axis);
    let sum = summed(tape, Places { axis, extent: shape[axis].clone(), repeated }, index, adjoint);
    let shape = tape.shape(operand);
    (operand, tape.reshape(sum, &shape))
}

/// What a broadcast along other axes than `axis` repeats to make `x`, and these axes; `x` itself and none, if it is no such broadcast.
fn repeated(tape: &Tape<'_>, x: NodeId, axis: usize) -> (NodeId, Vec<usize>) {
    let Op::Broadcast(from) = tape.graph.nodes[x].op else { return (x, vec![]) };
    let (small, large) = (tape.shape(from), tape.shape(x));
    let differs: Vec<usize> = (0..small.len()).filter(|&d| small[d] != large[d]).collect();
    let known = small.len() == large.len() && differs.iter().all(|&d| d != axis && small[d].is_one());
    let room = large.len() < MAX_RANK || neighbours(axis, &differs, large.len()).is_some();
    if known && room { (from, differs) } else { (x, vec![]) }
}

/// Which places are read.
struct Places {
    /// The axis along which.
    axis: usize,
    /// What is read has so many places along it.
    extent: Size,
    /// Axes along which it is repeated.
    repeated: Vec<usize>,
}

/// The sum of an adjoint over all places along an axis at which each place is read, and over axes that are repeated; these stay
/// with extent 1, as one more axis behind `axis` does.
fn summed(tape: &mut Tape<'_>, places: Places, index: NodeId, adjoint: NodeId) -> NodeId {
    let Places { axis, extent, repeated } = places;
    let taken = tape.shape(adjoint);
    if taken.len() == MAX_RANK
        && let Some(first) = neighbours(axis, &repeated, MAX_RANK)
    {
        // There is no room for an axis more: two neighbours are one.
        let mut merged = taken;
        let second = merged.remove(first + 1);
        merged[first] = merged[first].mul(&second);
        let [index, adjoint] = [index, adjoint].map(|value| tape.reshape(value, &merged));
        let moved = |d: usize| if d > first { d - 1 } else { d };
        let mut repeated: Vec<usize> = repeated.into_iter().map(moved).collect();
        repeated.dedup();
        return summed(tape, Places { axis: moved(axis), extent, repeated }, index, adjoint);
    }
    // For each element a walk over all places in order, so that the sum has the same bits every time: a reduction along an axis of
    // its own. Schedules know that few places count (`fusion::scatter`).
    let with = |extent: Size| {
        let mut shape = taken.clone();
        shape.insert(axis, extent);
        shape
    };
    let (lifted, whole) = (with(Size::ONE), with(extent.clone()));
    let [index, adjoint] = [index, adjoint].map(|value| {
        let lifted = tape.reshape(value, &lifted);
        tape.broadcast(lifted, &whole)
    });
    let zero = tape.size(&Size::default(), &whole);
    let end = tape.size(&extent, &whole);
    let one = tape.size(&Size::ONE, &whole);
    let last = tape.binary(BinaryOp::Sub, end, one);
    let clamped = tape.binary(BinaryOp::Max, index, zero);
    let clamped = tape.binary(BinaryOp::Min, clamped, last);
    let place = tape.index(axis, &whole);
    let read = tape.compare(CompareOp::Eq, clamped, place);
    let parts = tape.where_true(read, adjoint);
    let mut axes: Vec<usize> = repeated.into_iter().map(|d| if d > axis { d + 1 } else { d }).collect();
    axes.push(axis + 1);
    axes.sort_unstable();
    tape.reduce(ReduceOp::Sum, parts, &axes)
}

/// The first of two neighbouring axes that may be one: neither is `axis`, and both are repeated or neither.
fn neighbours(axis: usize, repeated: &[usize], rank: usize) -> Option<usize> {
    let alike = |d: usize| repeated.contains(&d) == repeated.contains(&(d + 1));
    (0..rank - 1).find(|&d| d != axis && d + 1 != axis && alike(d))
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
