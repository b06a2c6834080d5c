//! Attention gradients: products whose left operand is a pointwise function of recomputed scores.
//!
//! Input: an attention whose scores have other readers. Output: [`WeightedSums`], one per kernel, and recomputed nodes;
//! or the reader that needs a stored score. `grad/attention` writes gradients in this form: probabilities from scores
//! and two statistics per row. Not here: the kernels' programs (`weighted_sum`).

use std::collections::BTreeSet;

use fuse_artifact::Size;

use super::attention_pattern::{Gradient, MAX_HEAD, Pattern, Read, WeightedSums};
use crate::{
    graph::{Graph, NodeId, Op, softmax::Softmax},
    operations::UnaryOp,
};

const MAX_PRODUCTS: usize = 2;

/// Register limit of sums per kernel over the same products.
const MAX_SUMS: usize = 2;

/// Finds the gradient of an attention whose scores have other readers.
///
/// `users` are live users by node. Sums in `apart` get kernels of their own.
///
/// # Errors
/// The value that must be stored.
pub fn find(
    graph: &Graph,
    users: &[Vec<NodeId>],
    live: &BTreeSet<NodeId>,
    pattern: &Pattern,
    apart: &BTreeSet<NodeId>,
) -> Result<Gradient, Read> {
    let search = Search { graph, pattern };
    let mut found: Vec<Sum> = live.iter().filter_map(|&output| search.sum(output)).collect();
    let all: BTreeSet<NodeId> = found.iter().flat_map(|sum| sum.inner.iter().copied()).collect();
    // A sum with a recomputed right operand would need storage; its readers become outsiders.
    found.retain(|sum| !all.contains(&sum.values));
    let recomputed: BTreeSet<NodeId> = found.iter().flat_map(|sum| sum.inner.iter().copied()).collect();
    let outputs: BTreeSet<NodeId> = found.iter().map(|sum| sum.output).collect();
    let numbers = numbers_of_rows(graph, live, pattern.statistics);
    let stored = |node: NodeId| node == pattern.output || numbers.stored.contains(&node);
    let inner = recomputed.iter().chain(&pattern.nodes).chain(&numbers.nodes).copied();
    for node in inner.collect::<BTreeSet<_>>().into_iter().filter(|&node| !stored(node)) {
        if graph.results.contains(&node) {
            return Err(Read { node, by: node, reason: "it is a result, so that it is stored" });
        }
        let of_row = pattern.statistics.contains(&node) || numbers.nodes.contains(&node);
        let of_attention = |user: &NodeId| pattern.nodes.contains(user) && pattern.nodes.contains(&node);
        let again = |user: &NodeId| recomputed.contains(user) || outputs.contains(user) && recomputed.contains(&node);
        let outside = |user: &&NodeId| !(of_row && numbers.nodes.contains(user) || of_attention(user) || again(user));
        if let Some(&by) = users[node.index()].iter().find(outside) {
            let reason =
                "it is neither an attention nor a gradient of its queries, keys or values, so that scores are stored";
            return Err(Read { node, by, reason });
        }
    }
    let sums = grouped(graph, &found, apart);
    let fits = |size: &Size| size.as_constant().is_none_or(|size| size <= MAX_HEAD);
    if let Some(large) = sums.iter().find(|sums| !sums.heads(graph).iter().all(fits)) {
        let reason = "its head is too large for a kernel that computes scores again";
        return Err(Read { node: pattern.product, by: large.outputs[0], reason });
    }
    let columns = graph.nodes[pattern.output].ty.shape.last();
    if columns.is_some_and(Size::is_one) {
        let reason = "values of one column are not told from numbers per row";
        return Err(Read { node: pattern.product, by: pattern.output, reason });
    }
    Ok(Gradient { sums, recomputed })
}

/// Statistics of a row: the softmax's offset and the reciprocal of its sum. A schedule may use another offset than the
/// largest score.
#[derive(Default)]
struct Numbers {
    stored: BTreeSet<NodeId>,
    nodes: BTreeSet<NodeId>,
}

fn numbers_of_rows(graph: &Graph, live: &BTreeSet<NodeId>, [largest, total]: [NodeId; 2]) -> Numbers {
    let mut numbers = Numbers::default();
    for &node in live.range(total..) {
        let Op::Unary(UnaryOp::Recip, of) = graph.nodes[node].op else { continue };
        if graph.without_casts(of) == total {
            numbers.nodes.extend(graph.casts(of).chain([node]));
            numbers.stored.insert(node);
        }
    }
    if !numbers.stored.is_empty() {
        let wide = |node: &NodeId| matches!(graph.nodes[*node].op, Op::Cast(x) if x == largest);
        let widened: Vec<NodeId> = live.range(largest..).copied().filter(wide).collect();
        numbers.stored.extend(if widened.is_empty() { vec![largest] } else { widened });
        numbers.nodes.extend(&numbers.stored);
    }
    numbers
}

/// Unread outputs of attentions whose scores the gradient of their values needs.
pub fn unread_outputs(graph: &Graph, live: &BTreeSet<NodeId>) -> Vec<NodeId> {
    let unread = graph.nodes.iter().filter(|(id, _)| !live.contains(id));
    let outputs = unread.filter(|(_, node)| {
        let Op::Matmul { lhs, .. } = node.op else { return false };
        Softmax::find(graph, lhs).is_some_and(|softmax| {
            !live.contains(&softmax.quotient)
                && !numbers_of_rows(graph, live, [softmax.largest, softmax.total]).stored.is_empty()
        })
    });
    outputs.map(|(id, _)| id).collect()
}

struct Sum {
    output: NodeId,
    values: NodeId,
    products: BTreeSet<NodeId>,
    exchanged: bool,
    inner: BTreeSet<NodeId>,
}

fn grouped(graph: &Graph, found: &[Sum], apart: &BTreeSet<NodeId>) -> Vec<WeightedSums> {
    let mut kernels: Vec<WeightedSums> = vec![];
    for sum in found {
        let ty = &graph.nodes[sum.output].ty;
        let joins = |kernel: &&mut WeightedSums| {
            let products: BTreeSet<NodeId> = kernel.products.iter().chain(&sum.products).copied().collect();
            let whole = kernel.outputs.iter().chain([&sum.output]).all(|output| !apart.contains(output));
            let alike = kernel.exchanged == sum.exchanged && graph.nodes[kernel.outputs[0]].ty == *ty;
            let few = products.len() <= MAX_PRODUCTS && kernel.outputs.len() < MAX_SUMS;
            // Sums of one gradient depend only on its scores.
            let waits = kernel.outputs.iter().any(|&output| depends(graph, sum.output, output));
            whole && alike && few && !waits
        };
        match kernels.iter_mut().find(joins) {
            Some(kernel) => {
                kernel.outputs.push(sum.output);
                kernel
                    .products
                    .extend(sum.products.iter().filter(|x| !kernel.products.contains(x)).copied().collect::<Vec<_>>());
            }
            None => kernels.push(WeightedSums {
                outputs: vec![sum.output],
                products: sum.products.iter().copied().collect(),
                exchanged: sum.exchanged,
            }),
        }
    }
    kernels
}

fn depends(graph: &Graph, node: NodeId, from: NodeId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![node]);
    while let Some(node) = pending.pop() {
        if node == from {
            return true;
        }
        if node > from && seen.insert(node) {
            pending.extend(graph.nodes[node].op.operands());
        }
    }
    false
}

struct Search<'a> {
    graph: &'a Graph,
    pattern: &'a Pattern,
}

impl Search<'_> {
    fn sum(&self, output: NodeId) -> Option<Sum> {
        let Op::Matmul { lhs, rhs } = self.graph.nodes[output].op else { return None };
        let shape = |node: NodeId| &self.graph.nodes[node].ty.shape;
        let batch = shape(output).len() - 2;
        if output == self.pattern.output || shape(lhs)[..batch] != shape(output)[..batch] {
            return None;
        }
        let (products, inner) = self.leading_to(lhs);
        let orientation: BTreeSet<bool> = products.iter().map(|&(_, exchanged)| exchanged).collect();
        let of_attention = products.iter().any(|&(product, _)| product == self.pattern.product);
        if !of_attention || orientation.len() != 1 || products.len() > MAX_PRODUCTS {
            return None;
        }
        Some(Sum {
            output,
            values: rhs,
            products: products.iter().map(|&(product, _)| product).collect(),
            exchanged: orientation.contains(&true),
            inner,
        })
    }

    /// Products behind a left operand, each flagged if its last axes are exchanged, and the nodes between.
    fn leading_to(&self, lhs: NodeId) -> (BTreeSet<(NodeId, bool)>, BTreeSet<NodeId>) {
        let (mut found, mut pending) = (BTreeSet::new(), vec![(lhs, false)]);
        while let Some(at) = pending.pop() {
            if found.insert(at) {
                pending.extend(self.sources(at));
            }
        }
        let is_product = |node: NodeId| {
            let node = &self.graph.nodes[node];
            matches!(node.op, Op::Matmul { .. }) && node.ty.dtype.is_float()
        };
        let products: BTreeSet<(NodeId, bool)> = found.iter().copied().filter(|&(node, _)| is_product(node)).collect();
        let mut leads = products.clone();
        for at in found {
            if self.sources(at).iter().any(|source| leads.contains(source)) {
                leads.insert(at);
            }
        }
        (products, leads.into_iter().map(|(node, _)| node).collect())
    }

    fn sources(&self, (node, exchanged): (NodeId, bool)) -> Vec<(NodeId, bool)> {
        match &self.graph.nodes[node].op {
            _ if self.pattern.is_of_softmax(node) => vec![],
            op if op.is_pointwise() => op.operands().into_iter().map(|x| (x, exchanged)).collect(),
            Op::Permute { x, permutation } if exchanges(permutation) => vec![(*x, !exchanged)],
            _ => vec![],
        }
    }
}

fn exchanges(permutation: &[usize]) -> bool {
    let rank = permutation.len();
    rank >= 2 && permutation.iter().copied().eq((0..rank - 2).chain([rank - 1, rank - 2]))
}
