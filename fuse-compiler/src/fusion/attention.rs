//! Attention: placeholder until the package lands.

use std::collections::BTreeSet;

use fuse_artifact::Check;

use crate::graph::{Graph, NodeId};

/// A recognized attention.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The outer product.
    pub output: NodeId,
    /// Everything inside.
    pub nodes: BTreeSet<NodeId>,
}

pub fn recognize(_: &Graph, _: &BTreeSet<NodeId>, _: bool) -> Vec<Pattern> {
    vec![]
}

pub fn assumptions(_: &Graph, _: &Pattern) -> Vec<Check> {
    vec![]
}
