//! Recomputation: values that one kernel would evaluate at several coordinates because it reads them through `take`.
//!
//! A kernel that inlines `roll(x, shift = 1) + roll(x, shift = -1)` computes `x` twice per element. Each further level
//! doubles that. A value read at several coordinates is therefore stored, unless it costs about as much as a load. Then
//! levels multiply only cheap values, and planning stays near linear in the program's length. Coordinates that
//! movements rename (slices, permutes) add few places; `heuristics` decides there.

use std::collections::BTreeSet;

use super::heuristics::{LOAD, operation_cost};
use crate::graph::{Graph, NodeId, Op};

/// Maximum distinct operations counted per value; values with more count as expensive.
const MAX_OPERATIONS: usize = 32;

#[derive(Clone, Copy, Default)]
struct Reads {
    /// Upper bound of coordinates read per element.
    places: u32,
    taken: bool,
}

#[derive(Clone, Default)]
struct Work {
    total: u32,
    /// Its operations; empty if it counts as one, like loads and values at other coordinates.
    operations: BTreeSet<NodeId>,
}

/// Values read at several coordinates, some computed, that are cheaper to store than to recompute; operands first.
/// `users` are the live users of each node, `is_stored` tells materialized nodes, and `most` bounds the repeated cost.
pub(super) fn read_at_several_places(
    graph: &Graph,
    users: &[BTreeSet<NodeId>],
    is_stored: impl Fn(NodeId) -> bool,
    most: u32,
) -> Vec<NodeId> {
    let reads = reads(graph, users);
    let mut found = vec![];
    let mut works: Vec<Work> = Vec::with_capacity(graph.nodes.len());
    for (id, node) in graph.nodes.iter() {
        let is_leaf = matches!(node.op, Op::Input(_) | Op::Dequantize(_)) || node.op.is_anchor();
        let mut work = Work { total: LOAD, ..Work::default() };
        if !is_leaf && !is_stored(id) {
            let inlined = inlined(graph, id, &works);
            if node.op.is_computed() && reads[id.index()].repeated(inlined.total) > most {
                found.push(id);
            } else {
                work = inlined;
            }
        }
        works.push(work);
    }
    found
}

impl Reads {
    /// Cost of recomputing a value at all places but one instead of loading it; 0 if no coordinate is computed.
    fn repeated(self, work: u32) -> u32 {
        let again = if self.taken { self.places.saturating_sub(1) } else { 0 };
        work.saturating_sub(LOAD).saturating_mul(again)
    }
}

/// Reads of each node by one kernel, through movements.
fn reads(graph: &Graph, users: &[BTreeSet<NodeId>]) -> Vec<Reads> {
    let mut reads = vec![Reads::default(); graph.nodes.len()];
    for id in graph.nodes.handles().rev() {
        let mut own = Reads::default();
        let mut in_place = false;
        for &user in &users[id.index()] {
            let op = &graph.nodes[user].op;
            let takes = matches!(*op, Op::Take { x, .. } if x == id);
            if takes || op.is_movement() {
                let Reads { places, taken } = reads[user.index()];
                own.places = own.places.saturating_add(places.max(1));
                own.taken |= takes || taken;
            }
            in_place |= !op.is_movement() && (!takes || matches!(*op, Op::Take { index, .. } if index == id));
        }
        own.places = own.places.saturating_add(u32::from(in_place));
        reads[id.index()] = own;
    }
    reads
}

fn inlined(graph: &Graph, id: NodeId, works: &[Work]) -> Work {
    let op = &graph.nodes[id].op;
    let operands = op.operands();
    if !op.is_pointwise() {
        let total = operands.iter().fold(0, |sum: u32, x| sum.saturating_add(works[x.index()].total));
        return Work { total, ..Work::default() };
    }
    // Drivers hoist uniform values out of the per-element work.
    if operands.iter().all(|x| works[x.index()].total == 0 && !matches!(graph.nodes[*x].op, Op::Index { .. })) {
        return Work::default();
    }
    let mut operations = BTreeSet::from([id]);
    for operand in operands {
        match &works[operand.index()].operations {
            others if others.is_empty() => _ = operations.insert(operand),
            others => operations.extend(others),
        }
    }
    if operations.len() > MAX_OPERATIONS {
        return Work { total: u32::MAX, ..Work::default() };
    }
    let cost = |&node: &NodeId| match works.get(node.index()) {
        Some(work) if work.operations.is_empty() => work.total,
        _ => operation_cost(&graph.nodes[node].op),
    };
    Work { total: operations.iter().map(cost).fold(0, u32::saturating_add), operations }
}
