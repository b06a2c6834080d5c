//! Adds reasons to kernel boundaries that legality and heuristics left unexplained.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Refusal, Slot, Text};

use super::{Group, GroupKind, Groups, Policy};
use crate::graph::{Graph, NodeId, Op};

pub(super) fn explain(graph: &Graph, groups: &mut Groups, policy: Policy) {
    let mut producers: BTreeMap<Slot, &Group> = BTreeMap::new();
    let mut found = vec![];
    for consumer in &groups.groups {
        for access in &consumer.accesses {
            let producer = producers.get(&access.access.slot);
            let (Some(producer), Slot::Temporary(number)) = (producer, access.access.slot) else { continue };
            let node = groups.temporaries[usize::from(number)];
            let refusal = Refusal {
                producer: name(graph, node).into(),
                consumer: name(graph, main_node(graph, consumer)).into(),
                reason: reason(producer, consumer, policy).into(),
            };
            found.push(refusal);
        }
        producers.extend(consumer.stores.iter().map(|store| (store.slot, consumer)));
    }
    let mut explained: BTreeMap<Text, BTreeSet<Text>> = BTreeMap::new();
    for Refusal { producer, reason, .. } in &groups.refusals {
        explained.entry(producer.clone()).or_default().insert(reason.clone());
    }
    for refusal in found {
        let reasons = explained.entry(refusal.producer.clone()).or_default();
        if reasons.is_empty() || reasons.contains(&refusal.reason) {
            reasons.insert(refusal.reason.clone());
            groups.refusals.push(refusal);
        }
    }
    groups.refusals.sort_by_key(|refusal| refusal.producer.clone());
    groups.refusals.dedup();
}

pub(super) fn name(graph: &Graph, node: NodeId) -> String {
    format!("{} {node}", graph.nodes[node].op.name())
}

fn main_node(graph: &Graph, group: &Group) -> NodeId {
    match &group.kind {
        GroupKind::Contraction(contraction) => contraction.matmuls[0],
        GroupKind::Attention(attention) => attention.output,
        GroupKind::WeightedSum(sum) => sum.outputs[0],
        GroupKind::Reduction(_) => {
            let reduces = |node: &NodeId| matches!(graph.nodes[*node].op, Op::Reduce { .. });
            group.nodes.iter().copied().find(reduces).unwrap_or(group.stores[0].node)
        }
        GroupKind::Pointwise => group.stores[0].node,
    }
}

fn reason(producer: &Group, consumer: &Group, policy: Policy) -> &'static str {
    use GroupKind as K;
    match (&producer.kind, &consumer.kind) {
        (K::Reduction(_), K::Contraction(_)) if policy.row_prologue => {
            "a product reduces rows of its left operand alone, where they are cheap and nothing else uses them"
        }
        (K::Reduction(_), K::Contraction(_) | K::Attention(_) | K::WeightedSum(_)) => {
            "every tile would reduce the rows again"
        }
        (
            K::Contraction(_) | K::Attention(_) | K::WeightedSum(_),
            K::Contraction(_) | K::Attention(_) | K::WeightedSum(_),
        ) => "each of its values is needed by workgroups that did not compute it",
        (K::Contraction(_), K::Reduction(_)) => "the workgroups of a product do not own whole rows of its result",
        (K::Attention(_) | K::WeightedSum(_), K::Reduction(_)) => {
            "the workgroups of an attention do not own whole rows of several heads"
        }
        (K::Reduction(_), K::Reduction(_)) => "it is reduced along other rows than it was computed in",
        (K::Pointwise, _) => "several kernels use it",
        (_, K::Pointwise) => "it is read in another shape or order than it is computed",
    }
}
