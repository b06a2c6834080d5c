//! A function and its gradients as two functions: one that runs forward and keeps values, and one that makes gradients of them.
//!
//! Input: a graph in which gradients were appended, and which of its nodes are the function's own. Output: [`Pullback`].
//!
//! What is kept:
//!
//! 1. Parameters that the gradients read, and those that tell dimensions which nothing else tells. They are there already.
//! 2. Of the function's values that gradients read, those that pointwise operations and movements cannot make again of 1 and of
//!    other kept values. So products are kept, mostly with what follows them in their kernel.
//! 3. Where only reductions lie between a value and what is kept, these in its place: `[M, 1]` for `[M, N]`.
//! 4. Attentions are computed again of queries, keys and values, which are kept where they follow from products: scores grow with
//!    the square of a sequence, and the kernels of the gradient need numbers per row that only the attention's kernel gives.

use std::collections::BTreeSet;

use super::subgraph::{Part, part};
use crate::{
    graph::{Graph, NodeId, Op, ReduceOp},
    operations::UnaryOp,
};

/// The two halves, and what the second one is given.
#[derive(Clone, Debug)]
pub struct Pullback {
    /// The function's results, and then values that are kept and are no results.
    pub forward: Graph,
    /// The gradients.
    pub backward: Graph,
    /// What each parameter of `backward` is.
    pub kept: Vec<Kept>,
}

/// A parameter of the second half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The function's argument with this index.
    Argument(u16),
    /// The first half's result with this index.
    Result(u16),
    /// The cotangent with this index.
    Cotangent(u16),
}

/// A graph with gradients.
#[derive(Clone, Copy, Debug)]
pub struct Differentiated<'a> {
    /// The function's own values, then cotangents, then gradients. Its results are those of the function.
    pub graph: &'a Graph,
    /// How many nodes are the function's own.
    pub own_nodes: usize,
    /// How many parameters are the function's own; the others are cotangents.
    pub own_params: u16,
    /// The gradients.
    pub gradients: &'a [NodeId],
}

/// Divides a function with gradients. `name` is that of the halves.
pub fn divide(whole: Differentiated<'_>, name: &str) -> Pullback {
    let Differentiated { graph, own_params, gradients, .. } = whole;
    let kept = kept(whole);
    let params = own_params..graph.params.len() as u16;
    let backward = Part { name: format!("{name}::apply"), results: gradients, params: params.collect(), given: kept };
    let (backward, params, given) = part(graph, backward);
    let mut results = graph.results.clone();
    let given: Vec<Kept> = given.into_iter().map(|node| result(&mut results, node)).collect();
    let forward =
        Part { name: name.to_owned(), results: &results, params: (0..own_params).collect(), given: BTreeSet::new() };
    let (forward, ..) = part(graph, forward);
    let of_param = |param: u16| match param.checked_sub(own_params) {
        Some(cotangent) => Kept::Cotangent(cotangent),
        None => Kept::Argument(param),
    };
    Pullback { forward, backward, kept: params.into_iter().map(of_param).chain(given).collect() }
}

/// A kept value among the first half's results: one that the function returns anyway, or one more.
fn result(results: &mut Vec<NodeId>, node: NodeId) -> Kept {
    let place = results.iter().position(|&result| result == node).unwrap_or_else(|| {
        results.push(node);
        results.len() - 1
    });
    Kept::Result(place as u16)
}

/// The function's values that are kept.
fn kept(whole: Differentiated<'_>) -> BTreeSet<NodeId> {
    let Differentiated { graph, own_nodes, .. } = whole;
    let read = read(whole);
    let scores = scores(graph, own_nodes);
    let mut kept = BTreeSet::new();
    // For each value, the reductions and operands of attentions of which it can be made again; none if it cannot.
    let mut again: Vec<Option<BTreeSet<NodeId>>> = Vec::with_capacity(own_nodes);
    let mut of_scores = vec![false; own_nodes];
    for (id, node) in graph.nodes.iter().take(own_nodes) {
        let operands = node.op.operands();
        let is_product = matches!(node.op, Op::Matmul { .. });
        of_scores[id.index()] =
            scores.contains(&id) || !is_product && operands.iter().any(|operand| of_scores[operand.index()]);
        let of = |operand: &NodeId| again[operand.index()].clone();
        let parts: Option<Vec<_>> = operands.iter().map(of).collect();
        let made: Option<BTreeSet<NodeId>> = parts.map(|parts| parts.into_iter().flatten().collect());
        let mut made = match &node.op {
            Op::Matmul { .. } if scores.contains(&id) => {
                Some(operands.iter().flat_map(|operand| of(operand).unwrap_or_else(|| [*operand].into())).collect())
            }
            Op::Matmul { .. } => None,
            Op::Reduce { .. } => made.filter(|_| of_scores[id.index()]).or(Some(BTreeSet::from([id]))),
            _ => made,
        };
        if read.contains(&id) {
            match made.take() {
                Some(parts) => kept.extend(parts),
                None => _ = kept.insert(id),
            }
            made = Some(BTreeSet::new());
        }
        again.push(made);
    }
    kept
}

/// The function's values that gradients read, but for parameters and numbers.
fn read(whole: Differentiated<'_>) -> BTreeSet<NodeId> {
    let Differentiated { graph, own_nodes, gradients, .. } = whole;
    let (mut seen, mut read, mut pending) = (BTreeSet::new(), BTreeSet::new(), gradients.to_vec());
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        let operands = graph.nodes[node].op.operands();
        if node.index() >= own_nodes {
            pending.extend(operands);
        } else if !operands.is_empty() {
            read.insert(node);
        }
    }
    read
}

/// The products of which attentions take a softmax, and those of the softmax.
fn scores(graph: &Graph, own_nodes: usize) -> BTreeSet<NodeId> {
    let own = || graph.nodes.iter().take(own_nodes);
    let last = |x: NodeId| graph.nodes[x].ty.rank().saturating_sub(1);
    let summed: BTreeSet<NodeId> = own()
        .filter_map(|(_, node)| match &node.op {
            Op::Reduce { op: ReduceOp::Sum, x, axes } if axes[..] == [last(*x)] => Some(*x),
            _ => None,
        })
        .collect();
    let mut scores = BTreeSet::new();
    for (output, node) in own() {
        let Op::Matmul { lhs, .. } = node.op else { continue };
        for exponential in follows_from(graph, lhs) {
            if matches!(graph.nodes[exponential].op, Op::Unary(UnaryOp::Exp, _)) && summed.contains(&exponential) {
                let is_product = |node: &NodeId| matches!(graph.nodes[*node].op, Op::Matmul { .. });
                scores.extend(follows_from(graph, exponential).into_iter().filter(is_product));
                scores.insert(output);
            }
        }
    }
    scores
}

/// The value and all of which pointwise operations make it, products and reductions included but not what they are made of.
fn follows_from(graph: &Graph, value: NodeId) -> BTreeSet<NodeId> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![value]);
    while let Some(node) = pending.pop() {
        let op = &graph.nodes[node].op;
        if found.insert(node) && op.is_pointwise() {
            pending.extend(op.operands());
        }
    }
    found
}
