//! In-place updates of parameters, with copies where they are illegal.
//!
//! A kernel writes a parameter after all other readers of its old value. An invocation may read only the element that
//! it writes. Otherwise the new value gets its own memory, and a final kernel copies it.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Refusal, Slot, Space};

use super::{
    Group, GroupKind, Planner, Store,
    body::{Body, KernelAccess, NeedsStorage, ValueOp},
    body_builder::{BodyBuilder, Region},
    dependencies::{Dependencies, InPlace},
    index::IndexMap,
    reasons,
};
use crate::graph::{Graph, NodeId};

/// Parameters that launch order permits to write in place: without `copied` and cycles.
pub(super) fn ordered(planner: &Planner<'_>, dependencies: &mut Dependencies) -> InPlace {
    let updates = planner.results.iter().enumerate().filter_map(|(result, &node)| {
        let param = planner.graph.updated_by(result).filter(|param| !planner.copied.contains(param))?;
        Some((param, node))
    });
    updates.filter(|&(param, node)| dependencies.write_in_place(param, node)).collect()
}

/// Parameter whose old value another invocation may still read.
pub(super) fn hazard(group: &Group) -> Option<u16> {
    group.stores.iter().find_map(|store| match store.slot {
        Slot::Param(param) if !reads_what_it_writes(group, store) => Some(param),
        _ => None,
    })
}

fn reads_what_it_writes(group: &Group, store: &Store) -> bool {
    let mut reads = group.accesses.iter().filter(|access| access.access.slot == store.slot).peekable();
    if reads.peek().is_none() {
        return true;
    }
    // Workgroups that share a row all compute its values; one stores them.
    let is_per_row =
        |store: &Store, axes| store.access.as_ref().is_some_and(|access| row_only(&access.access.axes, axes));
    let shares_rows = |axes| is_per_row(store, axes) && !group.stores.iter().all(|store| is_per_row(store, axes));
    let alone = match &group.kind {
        GroupKind::Pointwise | GroupKind::WeightedSum(_) => true,
        GroupKind::Attention(_) => !is_per_row(store, 1),
        GroupKind::Contraction(_) => !has_reductions(&group.body),
        GroupKind::Reduction(reduction) => !shares_rows(reduction.axes),
    };
    let shape = &group.shape;
    let same = |access: &KernelAccess| match &store.access {
        Some(own) => access.access == own.access,
        None => access.access.space == Space::Point && access.is_whole(shape),
    };
    alone && reads.all(|access| !access.gathered && same(access))
}

fn row_only(axes: &[Option<u8>], reduced: usize) -> bool {
    axes[axes.len() - reduced..].iter().all(Option::is_none)
}

fn has_reductions(body: &Body) -> bool {
    body.values.iter().any(|value| matches!(value.op, ValueOp::Reduce(..)))
}

/// Copy kernels for parameters not written in place, and for further results of one value.
pub(super) fn copies(
    planner: &Planner<'_>,
    in_place: &InPlace,
    slots: &BTreeMap<NodeId, Vec<Slot>>,
) -> Result<Vec<Group>, NeedsStorage> {
    let mut groups = vec![];
    for (result, &node) in planner.results.iter().enumerate() {
        let target = match planner.graph.updated_by(result) {
            Some(param) if in_place.contains_key(&param) => continue,
            Some(param) => Slot::Param(param),
            None => Slot::Result(result as u16),
        };
        let written = slots.get(&node).map_or(&[][..], Vec::as_slice);
        if !written.contains(&target) {
            let places = [written.first().copied(), Some(target)];
            groups.push(copy(planner.graph, &planner.uses_coordinates, node, places)?);
        }
    }
    Ok(groups)
}

fn copy(
    graph: &Graph,
    uses_coordinates: &[bool],
    node: NodeId,
    [from, to]: [Option<Slot>; 2],
) -> Result<Group, NeedsStorage> {
    let shape = graph.nodes[node].ty.shape.clone();
    let stored = |id: NodeId| if id == node { from } else { None };
    let mut builder = BodyBuilder::new(graph, uses_coordinates, &stored);
    let (inside, place) = (|_: NodeId| false, |_: NodeId| IndexMap::identity(shape.len()));
    let (body, values) = builder.body(&Region::new(Space::Point, shape.len(), &inside, &place), &[node])?;
    let (accesses, fixed) = builder.finish();
    let stores = to.map(|slot| Store { node, value: values[0], slot, access: None }).into_iter().collect();
    let kind = GroupKind::Pointwise;
    Ok(Group { name: String::new(), kind, shape, nodes: vec![], accesses, fixed, body, stores })
}

pub(super) fn refusals(planner: &Planner<'_>, in_place: &InPlace) -> Vec<Refusal> {
    let graph = planner.graph;
    let copied: BTreeSet<(NodeId, u16)> = planner
        .results
        .iter()
        .enumerate()
        .filter_map(|(result, &node)| Some((node, graph.updated_by(result)?)))
        .filter(|(_, param)| !in_place.contains_key(param))
        .collect();
    let refusal = |(node, param): (NodeId, u16)| Refusal {
        producer: reasons::name(graph, node).into(),
        consumer: format!("parameter `{}`", graph.params[usize::from(param)].name).into(),
        reason: "its old value is still read when the new one is computed, so it is copied at the end".into(),
    };
    copied.into_iter().map(refusal).collect()
}
