//! What is correct: dependencies between groups, and limits that every adapter has.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cut, Group, GroupKind, Obstacle, body::NeedsStorage, in_place::InPlace, index::strip_reshapes};
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

/// Orders cuts so that each reads only what earlier ones store, and none reads a parameter that an earlier one wrote in place;
/// `None` if they wait for each other.
pub(super) fn launch_order(graph: &Graph, cuts: Vec<Cut>, in_place: &InPlace) -> Option<Vec<Cut>> {
    let producer: BTreeMap<NodeId, usize> =
        cuts.iter().enumerate().flat_map(|(i, cut)| cut.outputs.iter().map(move |&node| (node, i))).collect();
    let (mut needs, mut params) = (vec![BTreeSet::new(); cuts.len()], vec![]);
    for (i, cut) in cuts.iter().enumerate() {
        params.clear();
        needs[i].extend(producers_read(graph, cut, &producer, i, &mut params));
        let written = params.iter().filter_map(|param| producer.get(in_place.get(param)?));
        written.filter(|&&writer| writer != i).for_each(|&writer| _ = needs[writer].insert(i));
    }
    let mut done = vec![false; cuts.len()];
    let mut cuts: Vec<Option<Cut>> = cuts.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(cuts.len());
    while ordered.len() < cuts.len() {
        let next = (0..cuts.len()).find(|&i| !done[i] && needs[i].iter().all(|&p| done[p]))?;
        done[next] = true;
        ordered.extend(cuts[next].take());
    }
    Some(ordered)
}

/// The cuts whose stored values `cut` reads; the parameters that it reads are added to `params`.
fn producers_read(
    graph: &Graph,
    cut: &Cut,
    producer: &BTreeMap<NodeId, usize>,
    own: usize,
    params: &mut Vec<u16>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut pending: Vec<NodeId> = cut.outputs.iter().chain(&cut.region).copied().collect();
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let Op::Input(param) = graph.nodes[node].op {
            params.push(param);
            continue;
        }
        match producer.get(&node) {
            Some(&other) if other != own => {
                found.insert(other);
            }
            _ => pending.extend(graph.nodes[node].op.operands()),
        }
    }
    found
}

/// A group must not bind more buffers than every adapter has: otherwise names a value to store separately.
pub(super) fn check_bindings(graph: &Graph, group: &Group, most: usize) -> Result<(), Obstacle> {
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
    let split = value_to_split(graph, group);
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
    Err(NeedsStorage { node: split.unwrap_or(group.stores[0].node), consumer, reason }.into())
}

/// Of the values computed in the group, the one that gathers most buffers but still fits a kernel.
fn value_to_split(graph: &Graph, group: &Group) -> Option<NodeId> {
    let outputs: BTreeSet<NodeId> = group.stores.iter().map(|store| store.node).collect();
    let mut best: Option<(usize, NodeId)> = None;
    for &node in &group.nodes {
        let candidate = graph.nodes[node].op.is_pointwise() && !outputs.contains(&node);
        let buffers = inputs_under(graph, node, &group.nodes).len();
        if candidate && buffers > 1 && buffers < MAX_STORAGE_BUFFERS - 1 && best.is_none_or(|(most, _)| buffers > most)
        {
            best = Some((buffers, node));
        }
    }
    best.map(|(_, node)| node)
}

/// The values from outside `inside` that `node` is computed from.
fn inputs_under(graph: &Graph, node: NodeId, inside: &[NodeId]) -> BTreeSet<NodeId> {
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
