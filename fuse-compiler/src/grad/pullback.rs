//! Splits a function and its gradients into a forward graph that returns residuals and a backward graph that reads
//! them.
//!
//! Input: a graph with appended gradients, and the number of the function's nodes. Output: [`Pullback`].
//!
//! Residuals are:
//!
//! 1. Parameters that the gradients read, and those that determine otherwise unknown dimensions.
//! 2. Values that gradients read, unless pointwise operations and movements recompute them from residuals: mostly
//!    products with epilogues.
//! 3. Reductions between such a value and the residuals, in its place: `[M, 1]` for `[M, N]`.
//! 4. Queries, keys and values of attentions, where they derive from products. Scores grow with the square of a
//!    sequence; the gradient's kernels need numbers per row that only the attention's kernel produces.

use std::collections::BTreeSet;

use super::subgraph::{Part, part};
use crate::{
    graph::{Graph, NodeId, Op, ReduceOp},
    operations::UnaryOp,
};

/// Forward and backward graph.
#[derive(Clone, Debug)]
pub struct Pullback {
    /// Returns the results, then residuals that are no results.
    pub forward: Graph,
    /// Returns gradients.
    pub backward: Graph,
    /// Sources of the parameters of `backward`.
    pub kept: Vec<Kept>,
}

/// Source of a backward parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Argument of the function.
    Argument(u16),
    /// Result of the forward graph.
    Result(u16),
    /// Cotangent.
    Cotangent(u16),
}

/// Function with appended gradients.
#[derive(Clone, Copy, Debug)]
pub struct Differentiated<'a> {
    /// The function's nodes, then cotangents, then gradients. Results are the function's.
    pub graph: &'a Graph,
    /// Number of the function's nodes.
    pub own_nodes: usize,
    /// Number of its parameters; the others are cotangents.
    pub own_params: u16,
    /// Gradients.
    pub gradients: &'a [NodeId],
}

/// Splits a function with gradients into graphs called `name`.
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

fn result(results: &mut Vec<NodeId>, node: NodeId) -> Kept {
    let place = results.iter().position(|&result| result == node).unwrap_or_else(|| {
        results.push(node);
        results.len() - 1
    });
    Kept::Result(place as u16)
}

fn kept(whole: Differentiated<'_>) -> BTreeSet<NodeId> {
    let Differentiated { graph, own_nodes, .. } = whole;
    let read = read(whole);
    let scores = scores(graph, own_nodes);
    let mut kept = BTreeSet::new();
    // Reductions and attention operands that suffice to recompute each value; `None` if none do.
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

/// Products behind the scores of an attention, and those with its probabilities.
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
