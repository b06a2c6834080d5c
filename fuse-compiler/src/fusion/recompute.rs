//! Recomputation: values that a kernel would evaluate at several coordinates, because it reads them through `take`.
//!
//! Inlined `roll(x, shift = 1) + roll(x, shift = -1)` computes `x` twice; each further level doubles that. Such a value
//! is stored unless it costs about as much as a load, so planning stays near linear. `heuristics` decides about
//! coordinates that movements rename.

use std::collections::BTreeSet;

use super::heuristics::{LOAD, operation_cost};
use crate::graph::{Graph, NodeId, Op};

/// Distinct operations counted per value; more are expensive.
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
    /// Its operations; empty if it counts as one, like a load.
    operations: BTreeSet<NodeId>,
}

/// Values cheaper to store, operands first: read at several coordinates, some computed. `most` bounds the repeated
/// cost.
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
    /// Cost of recomputing a value instead of loading it; 0 if no coordinate is computed.
    fn repeated(self, work: u32) -> u32 {
        let again = if self.taken { self.places.saturating_sub(1) } else { 0 };
        work.saturating_sub(LOAD).saturating_mul(again)
    }
}

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
