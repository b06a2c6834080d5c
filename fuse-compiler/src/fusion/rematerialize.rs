//! Rematerialization: consumers recompute cheap functions of a materialized value.
//!
//! Removes values from regions if only other kernels read them and each is a cheap function of one stored value of its
//! size. Example: a relu's mask, `relu(x) > 0`. Not here: functions of reduced columns (`regions`), decided before
//! other regions grow.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Planner,
    heuristics::operation_cost,
    regions::{Anchor, Region, owners},
};
use crate::graph::{NodeId, Op};

/// Above a comparison with a rounding, below an exponential.
const MAX_COST: u32 = 4;

pub(super) fn leave(planner: &Planner<'_>, regions: &mut [Region], needed: &BTreeSet<NodeId>) {
    let mut search = Search { planner, owner: owners(regions), needed, kept: BTreeSet::new() };
    // In reverse: their sources stay materialized.
    for &node in needed.iter().rev() {
        let Some(&number) = search.owner.get(&node) else { continue };
        // Attentions store functions of their output.
        if matches!(regions[number].anchor, Anchor::Attention(_)) || search.kept.contains(&node) {
            continue;
        }
        if let Some(Derived { chain, source }) = search.derived(node, number) {
            for node in chain {
                regions[number].nodes.remove(&node);
                search.owner.remove(&node);
            }
            search.kept.insert(source);
        }
    }
}

struct Derived {
    chain: BTreeSet<NodeId>,
    source: NodeId,
}

struct Search<'a, 'g> {
    planner: &'a Planner<'g>,
    owner: BTreeMap<NodeId, usize>,
    needed: &'a BTreeSet<NodeId>,
    kept: BTreeSet<NodeId>,
}

impl Search<'_, '_> {
    fn derived(&self, node: NodeId, number: usize) -> Option<Derived> {
        let (graph, planner) = (self.planner.graph, self.planner);
        let ty = &graph.nodes[node].ty;
        let observed = planner.is_result(node) || planner.forced.contains(&node);
        if observed || !graph.nodes[node].op.is_pointwise() || !self.is_read_by_others(node, number) {
            return None;
        }
        let (mut chain, mut pending, mut sources) = (BTreeSet::from([node]), vec![node], BTreeSet::new());
        while let Some(at) = pending.pop() {
            for operand in graph.nodes[at].op.operands() {
                let held = self.owner.get(&operand) == Some(&number);
                if chain.contains(&operand) || self.is_number(operand) {
                    continue;
                }
                if held && self.needed.contains(&operand) {
                    sources.insert(operand);
                } else if held && graph.nodes[operand].op.is_pointwise() && self.is_used_by(operand, &chain) {
                    chain.insert(operand);
                    pending.push(operand);
                } else {
                    return None;
                }
            }
        }
        let work = chain.iter().fold(0, |sum: u32, &at| sum.saturating_add(operation_cost(&graph.nodes[at].op)));
        let source = *sources.first().filter(|_| sources.len() == 1)?;
        let from = &graph.nodes[source].ty;
        let as_large = from.shape == ty.shape && from.dtype.bytes() <= ty.dtype.bytes();
        (as_large && work <= MAX_COST).then_some(Derived { chain, source })
    }

    fn is_number(&self, mut node: NodeId) -> bool {
        let graph = self.planner.graph;
        while let Op::Broadcast(x) | Op::Reshape(x) = graph.nodes[node].op {
            node = x;
        }
        matches!(graph.nodes[node].op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_))
    }

    fn is_used_by(&self, node: NodeId, users: &BTreeSet<NodeId>) -> bool {
        !self.needed.contains(&node) && self.planner.users[node.index()].is_subset(users)
    }

    /// True if only other kernels read a value, none as an operand recomputed for every tile.
    fn is_read_by_others(&self, node: NodeId, number: usize) -> bool {
        let graph = self.planner.graph;
        let (mut seen, mut pending) = (BTreeSet::new(), vec![node]);
        while let Some(at) = pending.pop() {
            for &user in &self.planner.users[at.index()] {
                let op = &graph.nodes[user].op;
                match self.owner.get(&user) {
                    Some(&owner) if owner == number => return false,
                    _ if matches!(op, Op::Matmul { .. }) => return false,
                    Some(_) => {}
                    None if self.needed.contains(&user) => {}
                    None if op.is_pointwise() || op.is_movement() || matches!(op, Op::Take { .. }) => {
                        if seen.insert(user) {
                            pending.push(user);
                        }
                    }
                    None => return false,
                }
            }
        }
        true
    }
}
