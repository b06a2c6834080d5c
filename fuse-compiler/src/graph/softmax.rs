//! Recognizes softmax along the last axis, for gradients and fusion.
//!
//! Input: a graph and a node. Output: the [`Softmax`] that ends there, and products behind its scores.

use super::{Graph, NodeId, Op, ReduceOp, TensorType};
use crate::operations::{BinaryOp, UnaryOp};
use fuse_artifact::Size;
use std::collections::BTreeSet;

/// `e / sum(e)` with `e = exp(x - max(x))` along the last axis, possibly converted.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    /// Operand.
    pub scores: NodeId,
    /// Row maximum: a reduction.
    pub largest: NodeId,
    /// Row sum of exponentials: a reduction.
    pub total: NodeId,
    /// Quotient, before conversions.
    pub quotient: NodeId,
    /// Nodes from the scores to the result.
    pub nodes: Vec<NodeId>,
}

impl Softmax {
    /// Softmax that ends in `root`.
    pub fn find(graph: &Graph, root: NodeId) -> Option<Self> {
        Search { graph }.softmax(root)
    }

    /// Products of the scores' shape, with only pointwise operations between.
    pub fn products(&self, graph: &Graph) -> Vec<NodeId> {
        let (mut found, mut seen, mut pending) = (vec![], BTreeSet::new(), vec![self.scores]);
        while let Some(node) = pending.pop() {
            let (op, dtype) = (&graph.nodes[node].op, graph.nodes[node].ty.dtype);
            match op {
                _ if !seen.insert(node) => {}
                Op::Matmul { .. } if dtype.is_float() => found.push(node),
                op if op.is_pointwise() => pending.extend(op.operands().into_iter().rev()),
                _ => {}
            }
        }
        found
    }
}

struct Search<'a> {
    graph: &'a Graph,
}

impl Search<'_> {
    fn op(&self, node: NodeId) -> &Op {
        &self.graph.nodes[node].op
    }

    fn ty(&self, node: NodeId) -> &TensorType {
        &self.graph.nodes[node].ty
    }

    fn softmax(&self, root: NodeId) -> Option<Softmax> {
        let mut nodes = vec![root];
        let mut quotient = root;
        while let Op::Cast(x) = *self.op(quotient) {
            if !self.ty(x).dtype.is_float() || !self.ty(quotient).dtype.is_float() {
                return None;
            }
            quotient = x;
            nodes.push(x);
        }
        let Op::Binary(BinaryOp::Div, exponential, divisor) = *self.op(quotient) else { return None };
        let Op::Unary(UnaryOp::Exp, difference) = *self.op(exponential) else { return None };
        let Op::Binary(BinaryOp::Sub, scores, subtrahend) = *self.op(difference) else { return None };
        nodes.extend([exponential, difference]);
        let (total, summed) = self.along_rows(ReduceOp::Sum, divisor, &mut nodes)?;
        let (largest, compared) = self.along_rows(ReduceOp::Max, subtrahend, &mut nodes)?;
        let fits = summed == exponential && compared == scores;
        fits.then_some(Softmax { scores, largest, total, quotient, nodes })
    }

    /// Reduction broadcast back along the last axis, and its operand.
    fn along_rows(&self, wanted: ReduceOp, root: NodeId, nodes: &mut Vec<NodeId>) -> Option<(NodeId, NodeId)> {
        let mut node = root;
        nodes.push(node);
        while let Op::Broadcast(x) | Op::Reshape(x) = *self.op(node) {
            node = x;
            nodes.push(node);
        }
        let Op::Reduce { op, x, ref axes } = *self.op(node) else { return None };
        let rank = self.ty(x).rank();
        let kept = &self.ty(x).shape[..rank - 1];
        let same_rows = self.ty(root).rank() == rank && self.ty(root).shape[..rank - 1] == *kept;
        let keeps_rows = nodes.iter().all(|&n| !matches!(self.op(n), Op::Reshape(_)) || self.keeps_rows(n, kept));
        (op == wanted && *axes == [rank - 1] && same_rows && keeps_rows).then_some((node, x))
    }

    fn keeps_rows(&self, node: NodeId, kept: &[Size]) -> bool {
        let rows = |shape: &[Size]| match shape.split_last() {
            Some((last, rows)) if last.is_one() && rows.len() == kept.len() => rows == kept,
            _ => shape == kept,
        };
        let Op::Reshape(x) = *self.op(node) else { return true };
        rows(&self.ty(node).shape) && rows(&self.ty(x).shape)
    }
}
