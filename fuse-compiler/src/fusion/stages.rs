//! Stages: how many products and reductions lie on the longest way to a value. Nothing depends on a later stage, so searches for
//! what a value depends on end early, and planning a graph of thousands of operations stays near linear.

use crate::graph::{Graph, NodeId};

use super::legality::is_anchor;

/// The stages of a graph's values while kernels form.
pub(super) struct Stages {
    /// The stage of each node.
    own: Vec<u32>,
    /// For each node, a stage such that it waits for none that is later. More than its own where it waits for a kernel that
    /// computes later values, too.
    latest: Vec<u32>,
}

impl Stages {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut own: Vec<u32> = Vec::with_capacity(graph.nodes.len());
        for (_, node) in graph.nodes.iter() {
            let before = node.op.operands().into_iter().map(|x| own[x.index()]).max().unwrap_or(0);
            own.push(before + u32::from(is_anchor(&node.op)));
        }
        Self { latest: own.clone(), own }
    }

    /// The first stage of some nodes.
    pub(super) fn first(&self, nodes: impl Iterator<Item = NodeId>) -> u32 {
        nodes.map(|node| self.own[node.index()]).min().unwrap_or(0)
    }

    /// The latest stage that a node may wait for.
    pub(super) fn latest(&self, node: NodeId) -> u32 {
        self.latest[node.index()]
    }

    /// Has a node wait for a stage. Whether that is news.
    pub(super) fn wait(&mut self, node: NodeId, stage: u32) -> bool {
        let latest = &mut self.latest[node.index()];
        let news = *latest < stage;
        *latest = stage.max(*latest);
        news
    }
}
