//! Gradient of an attention, `matmul(softmax(s), v)`, whose scores `s` derive from a product. Stores numbers per row
//! instead of probabilities (Dao et al., FlashAttention, 2022).
//!
//! Input: a graph and the nodes on a path. Output: its [`Attentions`], and their operations' contributions. Kernels
//! recompute scores (`fusion`).
//!
//! With a row's maximum `m` and the reciprocal `r` of its sum of exponentials, probabilities are `p = exp(s - m)·r`. A
//! single number `m - log(r)` would round away digits of `r` at large scores. With the output's adjoint `g`, the
//! adjoint of the scores is `p·(g·vᵀ - d)`, where `d = rowsum(p·(g·vᵀ))` equals `rowsum(g·output)`. A score of -inf has
//! no adjoint, even in a fully masked row, whose other numbers are NaN.

use std::collections::BTreeMap;

use fuse_artifact::{DType, Size};

use super::{Marks, product::Role, tape::Tape};
use crate::{
    graph::{CompareOp, Graph, NodeId, Op, ReduceOp, softmax::Softmax},
    operations::{BinaryOp, UnaryOp},
};

pub(super) struct Attentions(Vec<Attention>);

struct Attention {
    softmax: Softmax,
    output: NodeId,
    products: Vec<NodeId>,
    weights: Option<Weights>,
    /// The output's adjoint, and its contribution to the probabilities.
    adjoint: Option<[NodeId; 2]>,
    moved: Vec<NodeId>,
}

#[derive(Clone, Copy)]
struct Weights {
    values: NodeId,
    /// True where the score is -inf.
    hidden: NodeId,
    /// `d` of each row, if the output has an adjoint.
    rows: Option<NodeId>,
}

impl Attentions {
    /// Attentions among the first `count` nodes with an output on a path. Inner nodes in `wrt`, or constant for
    /// gradients, prevent them.
    pub(super) fn find(graph: &Graph, count: usize, wrt: &[NodeId], marks: &Marks, on_path: &[bool]) -> Self {
        let mut found: Vec<Attention> = vec![];
        for (id, node) in graph.nodes.iter().take(count).filter(|(id, _)| on_path[id.index()]) {
            let Op::Matmul { lhs, .. } = node.op else { continue };
            let Some(softmax) = Softmax::find(graph, lhs) else { continue };
            let products = softmax.products(graph);
            let (shape, batch) = (&graph.nodes[lhs].ty.shape, node.ty.rank() - 2);
            let special = |x: &NodeId| wrt.contains(x) || *x != softmax.largest && marks.stopped.contains(x);
            let plain = shape[..batch] == node.ty.shape[..batch] && !softmax.nodes.iter().any(special);
            let alone = found.iter().all(|other| other.softmax.quotient != softmax.quotient);
            if plain && alone && !products.is_empty() {
                found.push(Attention { softmax, output: id, products, weights: None, adjoint: None, moved: vec![] });
            }
        }
        Self(found)
    }

    pub(super) fn moved(&self) -> impl Iterator<Item = NodeId> {
        self.0.iter().flat_map(|attention| attention.moved.iter().copied())
    }

    pub(super) fn follow(&mut self, copies: &BTreeMap<NodeId, NodeId>) {
        for Attention { softmax, output, products, .. } in &mut self.0 {
            let Softmax { scores, largest, total, quotient, nodes } = softmax;
            let nodes = nodes.iter_mut().chain(products).chain([scores, largest, total, quotient, output]);
            nodes.for_each(|node| *node = copies.get(node).copied().unwrap_or(*node));
        }
    }

    pub(super) fn role(&self, id: NodeId) -> Role {
        if self.0.iter().any(|attention| attention.output == id) {
            Role::Output
        } else if self.0.iter().any(|attention| attention.products.contains(&id)) {
            Role::Scores
        } else {
            Role::Plain
        }
    }

    pub(super) fn weights(&mut self, tape: &mut Tape<'_>, id: NodeId) -> Option<NodeId> {
        let attention = self.0.iter_mut().find(|attention| attention.output == id)?;
        let Op::Matmul { lhs, .. } = tape.graph.nodes[id].op else { return None };
        let Weights { values: weights, .. } = attention.recomputed(tape);
        let dtype = tape.dtype(lhs);
        Some(tape.cast(weights, dtype))
    }

    pub(super) fn note(&mut self, id: NodeId, adjoint: NodeId, part: NodeId) {
        if let Some(attention) = self.0.iter_mut().find(|attention| attention.output == id) {
            attention.adjoint = Some([adjoint, part]);
        }
    }

    /// Scores of the softmax with quotient `id`, and their adjoint.
    pub(super) fn scores(&mut self, tape: &mut Tape<'_>, id: NodeId, adjoint: NodeId) -> Option<[NodeId; 2]> {
        let attention = self.0.iter_mut().find(|attention| attention.softmax.quotient == id)?;
        let (scores, last) = (attention.softmax.scores, tape.shape(id).len() - 1);
        let Weights { values: weights, hidden, rows } = attention.recomputed(tape);
        let of_weights = tape.cast(adjoint, DType::F32);
        let rows = match (attention.adjoint, rows) {
            (Some([_, part]), Some(rows)) if tape.graph.without_casts(adjoint) == tape.graph.without_casts(part) => {
                rows
            }
            // The probabilities have other users.
            _ => {
                let products = tape.mul(weights, of_weights);
                tape.reduce(ReduceOp::Sum, products, &[last])
            }
        };
        let shape = tape.shape(weights);
        let rows = tape.broadcast(rows, &shape);
        let difference = tape.sub(of_weights, rows);
        let of_scores = tape.mul(weights, difference);
        let of_scores = tape.where_false(hidden, of_scores);
        let dtype = tape.dtype(scores);
        Some([scores, tape.cast(of_scores, dtype)])
    }
}

impl Attention {
    fn recomputed(&mut self, tape: &mut Tape<'_>) -> Weights {
        if let Some(weights) = self.weights {
            return weights;
        }
        let [largest, total, scores] =
            [self.softmax.largest, self.softmax.total, self.softmax.scores].map(|x| tape.cast(x, DType::F32));
        let mut reciprocal = tape.unary(UnaryOp::Recip, total);
        let mut rows = None;
        if let Some([of_output, _]) = self.adjoint {
            let [g, output] = [of_output, self.output].map(|x| tape.cast(x, DType::F32));
            let products = tape.mul(g, output);
            let last = tape.shape(products).len() - 1;
            if tape.shape(products)[last].as_constant().is_some_and(|columns| columns > 0) {
                let [sum, behind] = summed_rows(tape, [products, reciprocal], &mut self.moved);
                (rows, reciprocal) = (Some(sum), behind);
            } else {
                rows = Some(tape.reduce(ReduceOp::Sum, products, &[last]));
            }
        }
        let shape = tape.shape(scores);
        let [largest, reciprocal] = [largest, reciprocal].map(|rows| tape.broadcast(rows, &shape));
        let difference = tape.sub(scores, largest);
        let exponential = tape.unary(UnaryOp::Exp, difference);
        let visible = tape.mul(exponential, reciprocal);
        let hidden = tape.compare_to(CompareOp::Eq, scores, f64::NEG_INFINITY);
        let values = tape.where_false(hidden, visible);
        *self.weights.insert(Weights { values, hidden, rows })
    }
}

/// Sums of rows of `x`, and each row's given number, from one reduction into one tensor: the kernels that read them
/// already bind the maximum number of buffers.
///
/// Rows must not be empty, since empty reductions lose the numbers. Plans with few buffers have kernels only for
/// attentions with a known number of columns.
fn summed_rows(tape: &mut Tape<'_>, [x, numbers]: [NodeId; 2], moved: &mut Vec<NodeId>) -> [NodeId; 2] {
    let shape = tape.shape(x);
    let (axis, last) = (shape.len() - 2, shape.len() - 1);
    let count = shape[axis].clone();
    let mut both = shape.clone();
    both[axis] = count.add(&count);
    let (place, start) = (tape.index(axis, &both), tape.size(&count, &both));
    let before = tape.compare(CompareOp::Lt, place, start);
    let behind = tape.binary(BinaryOp::Sub, place, start);
    let elements = tape.take(x, axis, place);
    // The sum of a number and zeros.
    let numbers = tape.broadcast(numbers, &shape);
    let numbers = tape.take(numbers, axis, behind);
    moved.extend([elements, numbers]);
    let (column, zero) = (tape.index(last, &both), tape.size(&Size::default(), &both));
    let first = tape.compare(CompareOp::Eq, column, zero);
    let numbers = tape.where_true(first, numbers);
    let parts = tape.select(before, elements, numbers);
    let sums = tape.reduce(ReduceOp::Sum, parts, &[last]);
    let mut rows = shape;
    rows[last] = Size::ONE;
    [Size::default(), count].map(|start| tape.push(Op::Slice { x: sums, axis, start }, DType::F32, rows.clone()))
}
