//! Sums of adjoints: whole contributions, and slices, joined before the addition.
//!
//! `n` slices of a value would get `n` contributions of its size, each 0 outside its slice. Joined, their adjoints are
//! written once.

use fuse_artifact::Size;

use super::{Marks, join::join, movement, tape::Tape};
use crate::graph::{Literal, NodeId, Op};

pub(super) enum Contribution {
    Whole(NodeId),
    /// Elements from `start` on; 0 elsewhere.
    Slice(Slice),
}

pub(super) struct Slice {
    pub(super) axis: usize,
    pub(super) start: Size,
    pub(super) value: NodeId,
}

#[derive(Default)]
pub(super) struct Adjoint {
    sum: Option<NodeId>,
    /// Last slice first, as backward passes create them.
    slices: Vec<Slice>,
}

/// Disjoint slices along an axis, in order.
struct Run {
    axis: usize,
    start: Size,
    end: Size,
    pieces: Vec<NodeId>,
}

impl Adjoint {
    pub(super) fn add(&mut self, tape: &mut Tape<'_>, part: Contribution) {
        match part {
            Contribution::Whole(value) => {
                self.sum = Some(match self.sum {
                    Some(sum) => tape.add(sum, value),
                    None => value,
                });
            }
            Contribution::Slice(slice) => self.slices.push(slice),
        }
    }

    pub(super) fn total(&mut self, (tape, marks): (&mut Tape<'_>, &mut Marks), x: NodeId) -> Option<NodeId> {
        let mut slices = std::mem::take(&mut self.slices);
        slices.reverse();
        slices.sort_by_key(|slice| slice.start.as_constant());
        for Run { axis, start, end, pieces } in runs(tape, slices) {
            let whole = start == Size::default() && end == tape.shape(x)[axis];
            let mut value = join((tape, marks), axis, pieces);
            if !whole {
                value = movement::slice((tape, marks), x, (axis, &start), value);
            }
            self.add(tape, Contribution::Whole(value));
        }
        self.sum
    }
}

/// A slice joins a run if it provably starts at or after its end.
fn runs(tape: &mut Tape<'_>, slices: Vec<Slice>) -> Vec<Run> {
    let mut runs: Vec<Run> = vec![];
    for Slice { axis, start, value } in slices {
        let end = start.add(&tape.shape(value)[axis]);
        let gap = |run: &Run| match (run.end.as_constant(), start.as_constant()) {
            _ if run.axis != axis => None,
            _ if run.end == start => Some(0),
            (Some(end), Some(start)) => start.checked_sub(end),
            _ => None,
        };
        match runs.iter_mut().find_map(|run| Some((gap(run)?, run))) {
            Some((gap, run)) => {
                if gap > 0 {
                    let mut shape = tape.shape(value);
                    shape[axis] = Size::constant(gap);
                    let zero = tape.push(Op::Literal(Literal::Float(0.0)), tape.dtype(value), vec![]);
                    run.pieces.push(tape.broadcast(zero, &shape));
                }
                run.pieces.push(value);
                run.end = end;
            }
            None => runs.push(Run { axis, start, end, pieces: vec![value] }),
        }
    }
    runs
}
