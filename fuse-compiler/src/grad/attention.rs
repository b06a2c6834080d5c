//! The derivative of an attention, `matmul(softmax(s), v)` with scores `s` that follow from a product: in terms of numbers per row,
//! so that no later stage has to keep the probabilities (Dao et al., FlashAttention, 2022).
//!
//! Input: a graph and the nodes on a path. Output: the [`Attentions`] among them, and what their operations contribute. With
//! `lse = max + log(total)` of each row, the probabilities are `p = exp(s - lse)` again. With the adjoint `g` of the output, that
//! of the scores is `p·(g·vᵀ - d)`, where `d = rowsum(p·(g·vᵀ))` is the same as `rowsum(g·output)`.
//!
//! Not here: that kernels compute scores again (`fusion`).

use std::collections::BTreeMap;

use fuse_artifact::DType;

use super::{Marks, product::Role, tape::Tape};
use crate::{
    graph::{Graph, NodeId, Op, ReduceOp, softmax::Softmax},
    operations::{BinaryOp, UnaryOp},
};

/// The attentions on a path.
pub(super) struct Attentions(Vec<Attention>);

struct Attention {
    softmax: Softmax,
    /// The product of probabilities and values.
    output: NodeId,
    /// The products that the scores follow from.
    products: Vec<NodeId>,
    /// The probabilities from scores and numbers per row, in `f32`, once something wanted them.
    weights: Option<NodeId>,
    /// The adjoint of the output, and what the probabilities got of it.
    adjoint: Option<[NodeId; 2]>,
}

impl Attentions {
    /// Those among the first `count` nodes whose output is on a path. Something inside that has a gradient of its own, or is a
    /// constant to gradients, leaves an attention to the rules of its operations.
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
                found.push(Attention { softmax, output: id, products, weights: None, adjoint: None });
            }
        }
        Self(found)
    }

    /// Takes copies in place of what was copied.
    pub(super) fn follow(&mut self, copies: &BTreeMap<NodeId, NodeId>) {
        for Attention { softmax, output, products, .. } in &mut self.0 {
            let Softmax { scores, largest, total, quotient, nodes } = softmax;
            let nodes = nodes.iter_mut().chain(products).chain([scores, largest, total, quotient, output]);
            nodes.for_each(|node| *node = copies.get(node).copied().unwrap_or(*node));
        }
    }

    /// What the product `id` is to an attention.
    pub(super) fn role(&self, id: NodeId) -> Role {
        if self.0.iter().any(|attention| attention.output == id) {
            Role::Output
        } else if self.0.iter().any(|attention| attention.products.contains(&id)) {
            Role::Scores
        } else {
            Role::Plain
        }
    }

    /// The probabilities that are the left operand of the product `id`, computed from scores and numbers per row.
    pub(super) fn weights(&mut self, tape: &mut Tape<'_>, id: NodeId) -> Option<NodeId> {
        let attention = self.0.iter_mut().find(|attention| attention.output == id)?;
        let Op::Matmul { lhs, .. } = tape.graph.nodes[id].op else { return None };
        let weights = attention.recomputed(tape);
        let dtype = tape.dtype(lhs);
        Some(tape.cast(weights, dtype))
    }

    /// Notes the adjoint of the product `id`, and what its left operand gets.
    pub(super) fn note(&mut self, id: NodeId, adjoint: NodeId, part: NodeId) {
        if let Some(attention) = self.0.iter_mut().find(|attention| attention.output == id) {
            attention.adjoint = Some([adjoint, part]);
        }
    }

    /// The scores of the softmax whose quotient is `id`, and their adjoint.
    pub(super) fn scores(&mut self, tape: &mut Tape<'_>, id: NodeId, adjoint: NodeId) -> Option<[NodeId; 2]> {
        let attention = self.0.iter_mut().find(|attention| attention.softmax.quotient == id)?;
        let (scores, last) = (attention.softmax.scores, tape.shape(id).len() - 1);
        let weights = attention.recomputed(tape);
        let of_weights = tape.cast(adjoint, DType::F32);
        let rows = match attention.adjoint {
            Some([of_output, part]) if tape.graph.without_casts(adjoint) == tape.graph.without_casts(part) => {
                let [g, output] = [of_output, attention.output].map(|x| tape.cast(x, DType::F32));
                let products = tape.mul(g, output);
                tape.reduce(ReduceOp::Sum, products, &[last])
            }
            // Something else uses the probabilities, too.
            _ => {
                let products = tape.mul(weights, of_weights);
                tape.reduce(ReduceOp::Sum, products, &[last])
            }
        };
        let shape = tape.shape(weights);
        let rows = tape.broadcast(rows, &shape);
        let difference = tape.sub(of_weights, rows);
        let of_scores = tape.mul(weights, difference);
        let dtype = tape.dtype(scores);
        Some([scores, tape.cast(of_scores, dtype)])
    }
}

impl Attention {
    /// `exp(s - (max + log(total)))`, written once.
    fn recomputed(&mut self, tape: &mut Tape<'_>) -> NodeId {
        if let Some(weights) = self.weights {
            return weights;
        }
        let [largest, total, scores] =
            [self.softmax.largest, self.softmax.total, self.softmax.scores].map(|x| tape.cast(x, DType::F32));
        let log = tape.unary(UnaryOp::Log, total);
        let rows = tape.binary(BinaryOp::Add, largest, log);
        let shape = tape.shape(scores);
        let rows = tape.broadcast(rows, &shape);
        let difference = tape.sub(scores, rows);
        let weights = tape.unary(UnaryOp::Exp, difference);
        self.weights = Some(weights);
        weights
    }
}
