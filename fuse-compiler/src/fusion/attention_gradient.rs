//! The gradient of an attention: products whose left operand follows, element by element, from scores that are computed again.
//!
//! Input: an attention whose scores other nodes read, too. Output: those products as [`WeightedSums`], one for each kernel, and what
//! nothing has to store because kernels compute it again; or who reads it so that it must be stored.
//!
//! `grad/attention` writes gradients so that this finds them: probabilities from scores and two numbers per row.
//!
//! Not here: the kernels' programs (`weighted_sum`).

use std::collections::BTreeSet;

use fuse_artifact::Size;

use super::attention::{MAX_HEAD, Pattern};
use crate::{
    graph::{Graph, NodeId, Op, softmax::Softmax},
    operations::UnaryOp,
};

/// Products that a kernel computes of scores.
const MAX_PRODUCTS: usize = 2;

/// Sums that a kernel computes of the same products: more would need more registers than there are.
const MAX_SUMS: usize = 2;

/// `Σ f(a·b, c·d)[m, n] · w[n, :]` for each of a kernel's sums: matrix products whose left operand nothing stores.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSums {
    /// The `matmul`s, of one shape.
    pub outputs: Vec<NodeId>,
    /// The `matmul`s that their left operands follow from.
    pub products: Vec<NodeId>,
    /// Whether rows of the sums are columns of the products.
    pub exchanged: bool,
}

impl WeightedSums {
    /// The depths of the products, and the number of columns.
    pub fn heads(&self, graph: &Graph) -> Vec<Size> {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let depth = |&product: &NodeId| match graph.nodes[product].op {
            Op::Matmul { lhs, .. } => last(lhs),
            _ => unreachable!("a product is a matmul"),
        };
        self.products.iter().map(depth).chain([last(self.outputs[0])]).collect()
    }
}

/// What is found around an attention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// The sums, by kernel.
    pub sums: Vec<WeightedSums>,
    /// The nodes from products to left operands of sums, which kernels compute again.
    pub recomputed: BTreeSet<NodeId>,
}

/// A value that something reads which is neither the attention nor part of its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub node: NodeId,
    /// Its reader.
    pub by: NodeId,
    /// Why it cannot do without memory.
    pub reason: &'static str,
}

/// The gradient of an attention whose scores are read by others. `users` are the live users of all nodes; sums of which one is in
/// `apart` do not share a kernel.
///
/// # Errors
/// What has to be stored.
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
    // A sum whose other operand is recomputed would need it in memory: its readers then are outsiders.
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
    // A number per row and an output of one column would look the same.
    let columns = graph.nodes[pattern.output].ty.shape.last();
    if columns.is_some_and(Size::is_one) {
        let reason = "values of one column are not told from numbers per row";
        return Err(Read { node: pattern.product, by: pattern.output, reason });
    }
    Ok(Gradient { sums, recomputed })
}

/// Two numbers per row that the gradient reads: what the scores are relative to, and the reciprocal of the sum of exponentials. They
/// belong to each other, because a schedule may take something else than the largest score.
#[derive(Default)]
struct Numbers {
    /// These values.
    stored: BTreeSet<NodeId>,
    /// The nodes between them and the statistics, both included.
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

/// The outputs of attentions that nothing reads although the gradient of their values needs their scores.
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

/// A product whose left operand follows from scores.
struct Sum {
    output: NodeId,
    /// The right operand.
    values: NodeId,
    products: BTreeSet<NodeId>,
    exchanged: bool,
    /// The nodes from products to the left operand, both included.
    inner: BTreeSet<NodeId>,
}

/// Sums of the same shape and orientation that share their products, by kernel.
fn grouped(graph: &Graph, found: &[Sum], apart: &BTreeSet<NodeId>) -> Vec<WeightedSums> {
    let mut kernels: Vec<WeightedSums> = vec![];
    for sum in found {
        let ty = &graph.nodes[sum.output].ty;
        let joins = |kernel: &&mut WeightedSums| {
            let products: BTreeSet<NodeId> = kernel.products.iter().chain(&sum.products).copied().collect();
            let whole = kernel.outputs.iter().chain([&sum.output]).all(|output| !apart.contains(output));
            let alike = kernel.exchanged == sum.exchanged && graph.nodes[kernel.outputs[0]].ty == *ty;
            let few = products.len() <= MAX_PRODUCTS && kernel.outputs.len() < MAX_SUMS;
            // Those of one gradient need nothing of each other but its scores.
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

/// Whether `node` follows from `from`, which is before it.
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
    /// The sum that `output` is, if its left operand follows from the attention's product.
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

    /// The products that a left operand follows from, each with whether its last two axes are exchanged there, and the nodes from
    /// them to the operand.
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
        // Operands come first.
        for at in found {
            if self.sources(at).iter().any(|source| leads.contains(source)) {
                leads.insert(at);
            }
        }
        (products, leads.into_iter().map(|(node, _)| node).collect())
    }

    /// What a node follows from element by element, up to its last two axes exchanged.
    fn sources(&self, (node, exchanged): (NodeId, bool)) -> Vec<(NodeId, bool)> {
        match &self.graph.nodes[node].op {
            // The softmax itself is not computed again.
            _ if self.pattern.is_of_softmax(node) => vec![],
            op if op.is_pointwise() => op.operands().into_iter().map(|x| (x, exchanged)).collect(),
            Op::Permute { x, permutation } if exchanges(permutation) => vec![(*x, !exchanged)],
            _ => vec![],
        }
    }
}

/// Whether a permutation exchanges the last two axes and nothing else.
fn exchanges(permutation: &[usize]) -> bool {
    let rank = permutation.len();
    rank >= 2 && permutation.iter().copied().eq((0..rank - 2).chain([rank - 1, rank - 2]))
}
