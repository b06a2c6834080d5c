//! Fusion legality: anchors, and limits of every adapter.

use std::collections::BTreeSet;

use super::{Group, GroupKind, Obstacle, body::NeedsStorage, index::strip_reshapes};
use crate::{
    graph::{CompareOp, Graph, Node, NodeId, Op, ReduceOp},
    operations::{BinaryOp, UnaryOp},
};

/// Storage buffers per stage of every WebGPU adapter.
pub const MAX_STORAGE_BUFFERS: usize = 8;

/// Computed values compared with their own extremes, with reduction and comparison, as in the gradient of `max`.
///
/// Recomputation may round such a value differently and find no equal element.
pub fn compared_extremes(graph: &Graph, live: &BTreeSet<NodeId>) -> Vec<[NodeId; 3]> {
    let mut found = vec![];
    for &comparison in live {
        let Op::Compare(CompareOp::Eq | CompareOp::Ne, x, y) = graph.nodes[comparison].op else { continue };
        for (value, extreme) in [(x, y), (y, x)] {
            let reduction = graph.through_movements(extreme);
            let Op::Reduce { op: ReduceOp::Max | ReduceOp::Min, x, .. } = graph.nodes[reduction].op else { continue };
            let [value, of] = [value, x].map(|node| graph.through_movements(node));
            if value == of && rounds(graph, value) {
                found.push([value, reduction, comparison]);
            }
        }
    }
    found
}

/// True if a value is rounded after its load; moves, selections and sign changes do not round.
fn rounds(graph: &Graph, value: NodeId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![value]);
    while let Some(node) = pending.pop() {
        let Node { op, ty, .. } = &graph.nodes[node];
        if !ty.dtype.is_float() || !seen.insert(node) {
            continue;
        }
        match op {
            Op::Input(_) | Op::Scalar(_) | Op::Literal(_) | Op::Size(_) => {}
            op if op.is_movement() => pending.extend(op.operands()),
            Op::Take { .. } | Op::Select { .. } => pending.extend(op.operands()),
            Op::Unary(UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Relu, x) => pending.push(*x),
            Op::Binary(BinaryOp::Min | BinaryOp::Max, x, y) => pending.extend([*x, *y]),
            _ => return true,
        }
    }
    false
}

/// Checks a group's bindings; else names a value outside `forced` to store.
pub(super) fn check_bindings(
    graph: &Graph,
    group: &Group,
    most: usize,
    forced: &BTreeSet<NodeId>,
) -> Result<(), Obstacle> {
    // Several passes bind a scratch buffer.
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
    let (reason, consumer) =
        ("one kernel may bind at most 8 storage buffers", group.stores[group.stores.len() - 1].node);
    if let GroupKind::Attention(attention) = &group.kind
        && !forced.contains(&attention.output)
    {
        // A materialized score would end the attention.
        return Err(NeedsStorage { node: attention.output, consumer, reason }.into());
    }
    let split = value_to_split(graph, group, most);
    let mut reductions = group.nodes.iter().filter(|&&node| matches!(graph.nodes[node].op, Op::Reduce { .. }));
    if split.is_none()
        && let (GroupKind::Reduction(_), Some(_), Some(&last)) =
            (&group.kind, reductions.next(), reductions.next_back())
    {
        // The reductions' outputs alone exceed the limit.
        return Err(Obstacle::TooMany(vec![last]));
    }
    // Every value behind the anchor is stored by itself, so the anchor is stored too.
    let anchors = group.nodes.iter().copied().filter(|&node| graph.nodes[node].op.is_anchor());
    let stored = group.stores.iter().map(|store| store.node);
    let unforced = split.into_iter().chain(stored).chain(anchors).find(|node| !forced.contains(node));
    Err(NeedsStorage { node: unforced.unwrap_or(group.stores[0].node), consumer, reason }.into())
}

/// The value with most inputs that fits a kernel with `most` bindings.
fn value_to_split(graph: &Graph, group: &Group, most: usize) -> Option<NodeId> {
    let outputs: BTreeSet<NodeId> = group.stores.iter().map(|store| store.node).collect();
    let inside: BTreeSet<NodeId> = group.nodes.iter().copied().collect();
    let mut best: Option<(usize, NodeId)> = None;
    for &node in group.nodes.iter().filter(|&node| graph.nodes[*node].op.is_computed() && !outputs.contains(node)) {
        let buffers = inputs_under(graph, node, &inside).len();
        if buffers > 1 && buffers < most - 1 && best.is_none_or(|(most, _)| buffers > most) {
            best = Some((buffers, node));
        }
    }
    best.map(|(_, node)| node)
}

fn inputs_under(graph: &Graph, node: NodeId, inside: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut pending = vec![node];
    let mut seen = BTreeSet::new();
    while let Some(node) = pending.pop() {
        if !seen.insert(node) {
            continue;
        }
        let op = &graph.nodes[node].op;
        if inside.contains(&node) || op.is_movement() {
            pending.extend(op.operands());
        } else if !matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Index { .. }) {
            found.insert(strip_reshapes(graph, node));
        }
    }
    found
}
