//! Concatenation along an axis (`concat`).
//!
//! The graph lacks it: each element is taken from its source piece, so a kernel copies nothing first. Nested groups
//! bound the pieces that a kernel selects from (`fusion::pieces`).

use fuse_artifact::Size;

use super::{Marks, Movement, tape::Tape};
use crate::{
    graph::{CompareOp, Graph, NodeId},
    span::Span,
};

/// Pieces of a group: a kernel with 16 buffers can bind them and its result.
const MOST_PIECES: usize = 14;

/// Pieces of a value with their starts. Their adjoints are slices of the value's.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Axis.
    pub axis: usize,
    /// Pieces.
    pub pieces: Vec<(NodeId, Size)>,
}

/// Appends a concatenation of pieces with equal other extents.
///
/// # Panics
/// If there are no pieces.
pub fn joined(graph: &mut Graph, marks: &mut Marks, (axis, pieces): (usize, &[NodeId]), span: Span) -> NodeId {
    join((&mut Tape { graph, span }, marks), axis, pieces.to_vec())
}

pub(super) fn join((tape, marks): (&mut Tape<'_>, &mut Marks), axis: usize, mut pieces: Vec<NodeId>) -> NodeId {
    while pieces.len() > MOST_PIECES {
        let groups = pieces.len().div_ceil(MOST_PIECES);
        let groups = pieces.chunks(pieces.len().div_ceil(groups));
        pieces = groups.map(|group| join_few((tape, marks), axis, group)).collect();
    }
    join_few((tape, marks), axis, &pieces)
}

fn join_few((tape, marks): (&mut Tape<'_>, &mut Marks), axis: usize, pieces: &[NodeId]) -> NodeId {
    if let [only] = *pieces {
        return only;
    }
    let extents: Vec<Size> = pieces.iter().map(|&piece| tape.shape(piece)[axis].clone()).collect();
    let mut shape = tape.shape(pieces[0]);
    shape[axis] = extents.iter().fold(Size::default(), |sum, extent| sum.add(extent));
    let place = tape.index(axis, &shape);
    let mut joined = Joined { axis, pieces: vec![] };
    let mut start = Size::default();
    let (mut values, mut bounds): (Vec<NodeId>, Vec<NodeId>) = (vec![], vec![]);
    for (&piece, extent) in pieces.iter().zip(extents) {
        joined.pieces.push((piece, start.clone()));
        if extent.as_constant() == Some(0) {
            continue;
        }
        if !values.is_empty() {
            bounds.push(tape.size(&start, &shape));
        }
        values.push(if extent.is_one() {
            tape.broadcast(piece, &shape)
        } else {
            let index = bounds.last().map_or(place, |&first| tape.sub(place, first));
            let taken = tape.take(piece, axis, index);
            marks.moved.insert(taken, Movement::Shift);
            taken
        });
        start = start.add(&extent);
    }
    let Some(last) = values.pop() else { return pieces[0] };
    let value = values.into_iter().zip(bounds).rev().fold(last, |value, (piece, end)| {
        let before = tape.compare(CompareOp::Lt, place, end);
        tape.select(before, piece, value)
    });
    if !pieces.contains(&value) {
        marks.joined.insert(value, joined);
    }
    value
}
