//! `checkpoint(f(x))`: gradients read copies of `f`'s nodes, made when the backward pass reaches it, so nothing is kept
//! until then (Griewank and Walther, Algorithm 799: Revolve, 2000; Chen et al., Training Deep Nets with Sublinear
//! Memory Cost, 2016).
//!
//! Input: marks, and nodes in backward order. Output: the node that rules use for each: itself, or its copy.

use std::{collections::BTreeMap, ops::Range};

use super::{Marks, tape::Tape};
use crate::graph::{Node, NodeId};

pub(super) struct Again {
    /// Outermost checkpoints.
    parts: Vec<Part>,
    copies: BTreeMap<NodeId, NodeId>,
    originals: BTreeMap<NodeId, NodeId>,
}

struct Part {
    nodes: Range<usize>,
    is_copied: bool,
}

impl Again {
    pub(super) fn of(marks: &Marks) -> Self {
        let all = || marks.checkpoints.iter();
        let outermost = all().filter(|inner| {
            !all().any(|outer| outer != *inner && outer.start <= inner.start && inner.end <= outer.end)
        });
        let parts = outermost.map(|nodes| Part { nodes: nodes.clone(), is_copied: false });
        Self { parts: parts.collect(), copies: BTreeMap::new(), originals: BTreeMap::new() }
    }

    /// Copies a checkpoint when the backward pass reaches its first node; the pass never visits later ones. Returns new
    /// copies.
    pub(super) fn visit(
        &mut self,
        tape: &mut Tape<'_>,
        id: NodeId,
        marks: &mut Marks,
    ) -> Option<&BTreeMap<NodeId, NodeId>> {
        let part = self.parts.iter_mut().find(|part| !part.is_copied && part.nodes.contains(&id.index()))?;
        part.is_copied = true;
        let ids: Vec<NodeId> = tape.graph.nodes.handles().take(id.index() + 1).skip(part.nodes.start).collect();
        for original in ids {
            let Node { mut op, ty, .. } = tape.graph.nodes[original].clone();
            for operand in op.operands_mut() {
                *operand = self.copies.get(operand).copied().unwrap_or(*operand);
            }
            let copy = tape.push(op, ty.dtype, ty.shape);
            self.copies.insert(original, copy);
            self.originals.insert(copy, original);
            if let Some(&vectors) = marks.norms.get(&original) {
                marks.norms.insert(copy, self.copy(vectors));
            }
            if marks.stopped.contains(&original) {
                marks.stopped.insert(copy);
            }
            if let Some(movement) = marks.moved.get(&original).cloned() {
                marks.moved.insert(copy, movement);
            }
            if let Some(mut joined) = marks.joined.get(&original).cloned() {
                for (piece, _) in &mut joined.pieces {
                    *piece = self.copies.get(piece).copied().unwrap_or(*piece);
                }
                marks.joined.insert(copy, joined);
            }
        }
        Some(&self.copies)
    }

    pub(super) fn copy(&self, id: NodeId) -> NodeId {
        self.copies.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn original(&self, id: NodeId) -> NodeId {
        self.originals.get(&id).copied().unwrap_or(id)
    }
}
