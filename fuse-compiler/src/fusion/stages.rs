//! Stages: products and reductions on the longest path to a value.
//!
//! Nothing depends on a later stage, so dependency searches end early and planning stays near linear.

use crate::graph::{Graph, NodeId};

pub(super) struct Stages {
    own: Vec<u32>,
    /// Upper bound of the stages that each node waits for. Exceeds its own where its kernel also computes later values.
    latest: Vec<u32>,
}

impl Stages {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut own: Vec<u32> = Vec::with_capacity(graph.nodes.len());
        for (_, node) in graph.nodes.iter() {
            let before = node.op.operands().into_iter().map(|x| own[x.index()]).max().unwrap_or(0);
            own.push(before + u32::from(node.op.is_anchor()));
        }
        Self { latest: own.clone(), own }
    }

    pub(super) fn first(&self, nodes: impl Iterator<Item = NodeId>) -> u32 {
        nodes.map(|node| self.own[node.index()]).min().unwrap_or(0)
    }

    pub(super) fn latest(&self, node: NodeId) -> u32 {
        self.latest[node.index()]
    }

    /// Makes a node wait; true if this changes its bound.
    pub(super) fn wait(&mut self, node: NodeId, stage: u32) -> bool {
        let latest = &mut self.latest[node.index()];
        let news = *latest < stage;
        *latest = stage.max(*latest);
        news
    }
}
