//! What is correct: which operations start kernels, and limits that every adapter has.

use std::collections::BTreeSet;

use super::{Group, GroupKind, Obstacle, body::NeedsStorage, index::strip_reshapes, recompute::is_computed};
use crate::graph::{Graph, NodeId, Op};

/// Storage buffers per shader stage that every WebGPU adapter has.
pub const MAX_STORAGE_BUFFERS: usize = 8;

/// Whether an operation starts a kernel of its own kind.
pub fn is_anchor(op: &Op) -> bool {
    matches!(op, Op::Matmul { .. } | Op::Reduce { .. })
}

/// Whether an operation only renames coordinates.
pub fn is_movement(op: &Op) -> bool {
    matches!(op, Op::Permute { .. } | Op::Reshape(_) | Op::Slice { .. } | Op::Broadcast(_))
}

/// A group must not bind more than `most` buffers: otherwise names a value to store separately, other than those of `forced`,
/// which are stored.
pub(super) fn check_bindings(
    graph: &Graph,
    group: &Group,
    most: usize,
    forced: &BTreeSet<NodeId>,
) -> Result<(), Obstacle> {
    // A kernel in several passes binds its scratch buffer beside what it reads and writes.
    let scratch = usize::from(!matches!(group.kind, GroupKind::Pointwise | GroupKind::WeightedSum(_)));
    if group.tensors().len() + scratch <= most {
        return Ok(());
    }
    let several = match &group.kind {
        GroupKind::Contraction(contraction) => &contraction.matmuls[..],
        GroupKind::WeightedSum(sum) => &sum.outputs,
        GroupKind::Pointwise | GroupKind::Reduction(_) | GroupKind::Attention(_) => &[],
    };
    if several.len() > 1 {
        return Err(Obstacle::TooMany(several.to_vec()));
    }
    let split = value_to_split(graph, group, most);
    let mut reductions = group.nodes.iter().filter(|&&node| matches!(graph.nodes[node].op, Op::Reduce { .. }));
    if split.is_none()
        && let (GroupKind::Reduction(_), Some(_), Some(&last)) =
            (&group.kind, reductions.next(), reductions.next_back())
    {
        // What reductions give is too much to store, whatever they read: the last one gets a kernel of its own.
        return Err(Obstacle::TooMany(vec![last]));
    }
    let reason = "one kernel may bind at most 8 storage buffers";
    let consumer = group.stores[group.stores.len() - 1].node;
    // Where every value behind the anchor is stored, each for itself, the anchor's is: others then start from it in memory.
    let anchors = group.nodes.iter().copied().filter(|&node| is_anchor(&graph.nodes[node].op));
    let stored = group.stores.iter().map(|store| store.node);
    let unforced = split.into_iter().chain(stored).chain(anchors).find(|node| !forced.contains(node));
    Err(NeedsStorage { node: unforced.unwrap_or(group.stores[0].node), consumer, reason }.into())
}

/// Of the values computed in the group, the one that gathers most buffers but fits a kernel that binds at most `most`.
fn value_to_split(graph: &Graph, group: &Group, most: usize) -> Option<NodeId> {
    let outputs: BTreeSet<NodeId> = group.stores.iter().map(|store| store.node).collect();
    let inside: BTreeSet<NodeId> = group.nodes.iter().copied().collect();
    let mut best: Option<(usize, NodeId)> = None;
    for &node in group.nodes.iter().filter(|&node| is_computed(&graph.nodes[*node].op) && !outputs.contains(node)) {
        let buffers = inputs_under(graph, node, &inside).len();
        if buffers > 1 && buffers < most - 1 && best.is_none_or(|(most, _)| buffers > most) {
            best = Some((buffers, node));
        }
    }
    best.map(|(_, node)| node)
}

/// The values from outside `inside` that `node` is computed from.
fn inputs_under(graph: &Graph, node: NodeId, inside: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut pending = vec![node];
    let mut seen = BTreeSet::new();
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        let op = &graph.nodes[node].op;
        if inside.contains(&node) || is_movement(op) {
            pending.extend(op.operands());
        } else if !matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Index { .. }) {
            found.insert(strip_reshapes(graph, node));
        }
    }
    found
}
