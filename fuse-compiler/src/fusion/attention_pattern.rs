//! What [`attention`](super::attention) and [`attention_gradient`](super::attention_gradient) find in a graph.

use std::collections::BTreeSet;

use fuse_artifact::Size;

use crate::graph::{Graph, NodeId, Op};

/// Maximum depth and value columns that a kernel keeps in registers and workgroup memory.
pub const MAX_HEAD: u64 = 256;

/// An attention in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The `matmul` of probabilities and values.
    pub output: NodeId,
    /// The `matmul` of queries and keys.
    pub product: NodeId,
    /// Input of the softmax.
    pub scores: NodeId,
    /// Nodes of the softmax.
    pub softmax: Vec<NodeId>,
    /// Largest score and sum of exponentials per row; others may read the sum's logarithm.
    pub statistics: [NodeId; 2],
    /// Nodes from the product to the probabilities, and the output. Only the output and the statistics are
    /// materialized: other readers recompute the rest.
    pub nodes: BTreeSet<NodeId>,
    /// The part of its gradient that recomputes scores.
    pub gradient: Gradient,
}

impl Pattern {
    /// Depth of the score products, then the number of value columns.
    pub fn head(&self, graph: &Graph) -> [Size; 2] {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let Op::Matmul { lhs, .. } = graph.nodes[self.product].op else { unreachable!("a pattern's product") };
        [last(lhs), last(self.output)]
    }

    /// Sizes known only at launch that must be at most [`MAX_HEAD`].
    pub fn unbounded(&self, graph: &Graph) -> Vec<Size> {
        let mut sizes = vec![];
        for size in self.head(graph).into_iter().chain(self.gradient.sums.iter().flat_map(|sums| sums.heads(graph))) {
            if size.as_constant().is_none() && !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }

    /// True if `node` is part of the softmax: behind the scores and before the output.
    pub fn is_of_softmax(&self, node: NodeId) -> bool {
        self.softmax.contains(&node)
    }

    /// Nodes that are never materialized: the attention's kernel holds them, or gradient kernels recompute them.
    pub fn unstored(&self) -> impl Iterator<Item = NodeId> {
        let own = self.nodes.iter().filter(|node| **node != self.output);
        own.chain(&self.gradient.recomputed).copied()
    }
}

/// One kernel's sums `Σ f(a·b, c·d)[m, n] · w[n, :]`: matrix products whose left operand is never stored.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSums {
    /// The sums' `matmul` nodes, all of one shape.
    pub outputs: Vec<NodeId>,
    /// The `matmul` nodes that the left operands are computed from.
    pub products: Vec<NodeId>,
    /// True if rows of the sums are columns of the products.
    pub exchanged: bool,
}

impl WeightedSums {
    /// Depths of the products, then the number of columns.
    pub fn heads(&self, graph: &Graph) -> Vec<Size> {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let depth = |&product: &NodeId| match graph.nodes[product].op {
            Op::Matmul { lhs, .. } => last(lhs),
            _ => unreachable!("a product is a matmul"),
        };
        self.products.iter().map(depth).chain([last(self.outputs[0])]).collect()
    }
}

/// The part of a gradient that recomputes an attention's scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// The sums, grouped by kernel.
    pub sums: Vec<WeightedSums>,
    /// Nodes between products and left operands, recomputed by the kernels.
    pub recomputed: BTreeSet<NodeId>,
}

/// A value of an attention or its gradient that another operation reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub node: NodeId,
    /// Its reader.
    pub by: NodeId,
    /// Reason to store it.
    pub reason: &'static str,
}
