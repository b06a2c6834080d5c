//! Patterns that [`attention`](super::attention) and [`attention_gradient`](super::attention_gradient) recognize.

use std::collections::BTreeSet;

use fuse_artifact::Size;

use crate::graph::{Graph, NodeId, Op};

/// Maximum depth and value columns in registers and workgroup memory.
pub const MAX_HEAD: u64 = 256;

/// An attention in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// `matmul` of probabilities and values.
    pub output: NodeId,
    /// `matmul` of queries and keys.
    pub product: NodeId,
    /// Input of the softmax.
    pub scores: NodeId,
    /// Nodes of the softmax.
    pub softmax: Vec<NodeId>,
    /// Largest score and sum of exponentials per row.
    pub statistics: [NodeId; 2],
    /// Nodes from the product to the output. Only output and statistics are materialized; other readers recompute the
    /// rest.
    pub nodes: BTreeSet<NodeId>,
    /// Gradient that recomputes scores.
    pub gradient: Gradient,
}

impl Pattern {
    /// Depth of the score products, number of value columns.
    pub fn head(&self, graph: &Graph) -> [Size; 2] {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let Op::Matmul { lhs, .. } = graph.nodes[self.product].op else { unreachable!("a pattern's product") };
        [last(lhs), last(self.output)]
    }

    /// Run-time sizes that must be at most [`MAX_HEAD`].
    pub fn unbounded(&self, graph: &Graph) -> Vec<Size> {
        let mut sizes = vec![];
        for size in self.head(graph).into_iter().chain(self.gradient.sums.iter().flat_map(|sums| sums.heads(graph))) {
            if size.as_constant().is_none() && !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }

    /// True for nodes behind the scores and before the output.
    pub fn is_of_softmax(&self, node: NodeId) -> bool {
        self.softmax.contains(&node)
    }

    /// Nodes that are never materialized.
    pub fn unstored(&self) -> impl Iterator<Item = NodeId> {
        let own = self.nodes.iter().filter(|node| **node != self.output);
        own.chain(&self.gradient.recomputed).copied()
    }
}

/// Sums `Σ f(a·b, c·d)[m, n] · w[n, :]` of one kernel; the left operand is never stored.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedSums {
    /// `matmul` nodes of the sums, all of one shape.
    pub outputs: Vec<NodeId>,
    /// `matmul` nodes of the left operands.
    pub products: Vec<NodeId>,
    /// True if rows of the sums are columns of the products.
    pub exchanged: bool,
}

impl WeightedSums {
    /// Depths of the products, number of columns.
    pub fn heads(&self, graph: &Graph) -> Vec<Size> {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let depth = |&product: &NodeId| match graph.nodes[product].op {
            Op::Matmul { lhs, .. } => last(lhs),
            _ => unreachable!("a product is a matmul"),
        };
        self.products.iter().map(depth).chain([last(self.outputs[0])]).collect()
    }
}

/// Gradient that recomputes an attention's scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gradient {
    /// Sums by kernel.
    pub sums: Vec<WeightedSums>,
    /// Recomputed nodes between products and left operands.
    pub recomputed: BTreeSet<NodeId>,
}

/// Read of a value of an attention or its gradient by another operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Read {
    /// Value.
    pub node: NodeId,
    /// Reader.
    pub by: NodeId,
    /// Reason to store it.
    pub reason: &'static str,
}
