//! Adjoints of movements: slices and gathers.

use fuse_artifact::{DType, Size};

use super::{Marks, Movement, tape::Tape};
use crate::{
    graph::{CompareOp, NodeId, Op, ReduceOp, verify::MAX_RANK},
    operations::BinaryOp,
};

type Writer<'t, 'g> = (&'t mut Tape<'g>, &'t mut Marks);

pub(super) fn slice(
    (tape, marks): Writer<'_, '_>,
    x: NodeId,
    (axis, start): (usize, &Size),
    adjoint: NodeId,
) -> NodeId {
    let shape = tape.shape(x);
    let place = tape.index(axis, &shape);
    let start = tape.size(start, &shape);
    let place = tape.binary(BinaryOp::Sub, place, start);
    from_place((tape, marks), adjoint, axis, place)
}

/// Operand of a `Take`, and its adjoint: each element sums the adjoints of its reads. The operand is `x`, or what `x`
/// broadcasts.
pub(super) fn take(
    (tape, marks): Writer<'_, '_>,
    (id, x): (NodeId, NodeId),
    (axis, index): (usize, NodeId),
    adjoint: NodeId,
) -> (NodeId, NodeId) {
    let shape = tape.shape(x);
    match marks.moved.get(&id).cloned() {
        Some(Movement::Shift) => {
            if let Some(place) = shifted_back(tape, axis, index, &shape) {
                return (x, from_place((tape, marks), adjoint, axis, place));
            }
        }
        Some(Movement::Roll) => {
            if let Some(place) = rolled_back(tape, axis, index, &shape) {
                let back = tape.take(adjoint, axis, place);
                marks.moved.insert(back, Movement::Roll);
                return (x, back);
            }
        }
        Some(Movement::Repeat(times)) => {
            let (parts, axis) = split((tape, marks), adjoint, axis, [&shape[axis], &times]);
            let sum = tape.reduce(ReduceOp::Sum, parts, &[axis + 1]);
            return (x, tape.reshape(sum, &shape));
        }
        Some(Movement::Tile(times)) => {
            let (parts, axis) = split((tape, marks), adjoint, axis, [&times, &shape[axis]]);
            let sum = tape.reduce(ReduceOp::Sum, parts, &[axis]);
            return (x, tape.reshape(sum, &shape));
        }
        Some(Movement::Split) => {
            if let Op::Broadcast(whole) = tape.graph.nodes[x].op {
                let shape = tape.shape(whole);
                return (whole, tape.reshape(adjoint, &shape));
            }
        }
        None => {}
    }
    // A table broadcasts along all but one axis of its indices; its adjoint never gets that large.
    let (operand, repeated) = repeated(tape, x, axis);
    let sum = summed(tape, Places { axis, extent: shape[axis].clone(), repeated }, index, adjoint);
    let shape = tape.shape(operand);
    (operand, tape.reshape(sum, &shape))
}

/// Splits an axis in two; returns the first. Gathers elements, since a reshape would make kernels store `x`.
fn split((tape, marks): Writer<'_, '_>, x: NodeId, axis: usize, extents: [&Size; 2]) -> (NodeId, usize) {
    let shape = tape.shape(x);
    if shape.len() == MAX_RANK
        && let Some(first) = neighbours(axis, &[], MAX_RANK)
    {
        let merged = tape.reshape(x, &merged(shape, first));
        return split((tape, marks), merged, if axis > first { axis - 1 } else { axis }, extents);
    }
    let with = |extents: [&Size; 2]| {
        let (before, after) = (&shape[..axis], &shape[axis + 1..]);
        [before, &extents.map(Size::clone), after].concat()
    };
    let parts = with(extents);
    if extents.into_iter().any(Size::is_one) || is_repeated_element(tape, x) {
        return (tape.reshape(x, &parts), axis);
    }
    let [outer, inner] = [axis, axis + 1].map(|axis| tape.index(axis, &parts));
    let step = tape.size(extents[1], &parts);
    let index = tape.mul(outer, step);
    let index = tape.add(index, inner);
    let whole = tape.reshape(x, &with([&shape[axis], &Size::ONE]));
    let whole = tape.broadcast(whole, &with([&shape[axis], extents[1]]));
    let taken = tape.take(whole, axis, index);
    marks.moved.insert(taken, Movement::Split);
    (taken, axis)
}

fn is_repeated_element(tape: &Tape<'_>, x: NodeId) -> bool {
    matches!(tape.graph.nodes[x].op, Op::Broadcast(element) if tape.shape(element).iter().all(Size::is_one))
}

fn merged(mut shape: Vec<Size>, first: usize) -> Vec<Size> {
    let second = shape.remove(first + 1);
    shape[first] = shape[first].mul(&second);
    shape
}

/// Operand of a broadcast `x` along axes other than `axis`, and these; else `x` and no axes.
fn repeated(tape: &Tape<'_>, x: NodeId, axis: usize) -> (NodeId, Vec<usize>) {
    let Op::Broadcast(from) = tape.graph.nodes[x].op else { return (x, vec![]) };
    let (small, large) = (tape.shape(from), tape.shape(x));
    let differs: Vec<usize> = (0..small.len()).filter(|&d| small[d] != large[d]).collect();
    let known = small.len() == large.len() && differs.iter().all(|&d| d != axis && small[d].is_one());
    let room = large.len() < MAX_RANK || neighbours(axis, &differs, large.len()).is_some();
    if known && room { (from, differs) } else { (x, vec![]) }
}

struct Places {
    axis: usize,
    extent: Size,
    repeated: Vec<usize>,
}

/// Sums the adjoints of each coordinate's reads, and reduces broadcast axes. These, and an extra axis after `axis`,
/// stay with extent 1.
fn summed(tape: &mut Tape<'_>, places: Places, index: NodeId, adjoint: NodeId) -> NodeId {
    let Places { axis, extent, repeated } = places;
    let taken = tape.shape(adjoint);
    if taken.len() == MAX_RANK
        && let Some(first) = neighbours(axis, &repeated, MAX_RANK)
    {
        let merged = merged(taken, first);
        let [index, adjoint] = [index, adjoint].map(|value| tape.reshape(value, &merged));
        let moved = |d: usize| if d > first { d - 1 } else { d };
        let mut repeated: Vec<usize> = repeated.into_iter().map(moved).collect();
        repeated.dedup();
        return summed(tape, Places { axis: moved(axis), extent, repeated }, index, adjoint);
    }
    // Each element visits all coordinates in order along a separate axis, so the sum is bit-reproducible. Schedules
    // exploit that few contribute (`fusion::scatter`).
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

/// First neighbouring axes that can merge: neither is `axis`, both or neither broadcast.
fn neighbours(axis: usize, repeated: &[usize], rank: usize) -> Option<usize> {
    let alike = |d: usize| repeated.contains(&d) == repeated.contains(&(d + 1));
    (0..rank - 1).find(|&d| d != axis && d + 1 != axis && alike(d))
}

fn from_place((tape, marks): Writer<'_, '_>, adjoint: NodeId, axis: usize, place: NodeId) -> NodeId {
    let (shape, extent) = (tape.shape(place), tape.shape(adjoint)[axis].clone());
    let zero = tape.size(&Size::default(), &shape);
    let end = tape.size(&extent, &shape);
    let behind_start = tape.compare(CompareOp::Ge, place, zero);
    let before_end = tape.compare(CompareOp::Lt, place, end);
    let inside = tape.push(Op::Binary(BinaryOp::And, behind_start, before_end), DType::Bool, shape);
    let taken = tape.take(adjoint, axis, place);
    marks.moved.insert(taken, Movement::Shift);
    tape.where_true(inside, taken)
}

/// Coordinate of each operand element in the result of a shift.
fn shifted_back(tape: &mut Tape<'_>, axis: usize, index: NodeId, shape: &[Size]) -> Option<NodeId> {
    let is_place = |tape: &Tape<'_>, id: NodeId| tape.graph.nodes[id].op == Op::Index { axis };
    let number = |tape: &Tape<'_>, id: NodeId| match tape.graph.nodes[id].op {
        Op::Broadcast(number) if tape.shape(number).is_empty() => Some(number),
        Op::Literal(_) | Op::Size(_) => Some(id),
        _ => None,
    };
    let (op, x, y) = match tape.graph.nodes[index].op {
        Op::Index { axis: along } if along == axis => return Some(tape.index(axis, shape)),
        Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) => (op, x, y),
        _ => return None,
    };
    let (number, place_first) = match (is_place(tape, x), is_place(tape, y)) {
        (true, false) => (number(tape, y)?, true),
        (false, true) => (number(tape, x)?, false),
        _ => return None,
    };
    let number = tape.broadcast(number, shape);
    let place = tape.index(axis, shape);
    Some(match (op, place_first) {
        (BinaryOp::Add, _) => tape.sub(place, number),
        (_, true) => tape.add(place, number),
        (_, false) => tape.sub(number, place),
    })
}

/// Coordinate of each operand element in the result of a roll: a roll by the rest of the extent.
fn rolled_back(tape: &mut Tape<'_>, axis: usize, index: NodeId, shape: &[Size]) -> Option<NodeId> {
    let Op::Select { on_false: moved, .. } = tape.graph.nodes[index].op else { return None };
    let Op::Binary(BinaryOp::Sub, _, shift) = tape.graph.nodes[moved].op else { return None };
    let extent = tape.size(&shape[axis], shape);
    let rest = tape.sub(extent, shift);
    let place = tape.index(axis, shape);
    let moved = tape.sub(place, rest);
    let zero = tape.size(&Size::default(), shape);
    let negative = tape.compare(CompareOp::Lt, moved, zero);
    let wrapped = tape.add(moved, extent);
    Some(tape.select(negative, wrapped, moved))
}
