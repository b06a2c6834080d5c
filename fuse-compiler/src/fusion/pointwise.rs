//! Pointwise groups: values of one shape computed together.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Slot, Space};

use super::{
    Cut, Group, GroupKind, Planner,
    body::{self, BodyBuilder, NeedsStorage},
    contraction::prologue_nodes,
    in_place::InPlace,
    index::IndexMap,
    legality::launch_order,
};
use crate::graph::NodeId;

/// Groups the stored nodes that no contraction computes, each in one of `singles`; few groups, each of one shape.
///
/// Every node starts alone; two groups of one shape merge where the groups' dependencies stay acyclic. A
/// forced node stays alone: it was forced because it did not fit the kernels around it.
pub(super) fn cuts(planner: &Planner<'_>, contractions: &[Cut], singles: Vec<Cut>, in_place: &InPlace) -> Vec<Cut> {
    let graph = planner.graph;
    let alone = |node: NodeId| graph.options.no_fuse || planner.forced.contains(&node);
    let mut cuts: Vec<Cut> = contractions.iter().cloned().chain(singles).collect();
    let mut i = contractions.len();
    while i < cuts.len() {
        let node = cuts[i].outputs[0];
        let partners = contractions.len()..i;
        let merged = partners.filter(|&p| !alone(node) && !alone(cuts[p].outputs[0])).find_map(|p| {
            let same_shape = graph.nodes[cuts[p].outputs[0]].ty.shape == graph.nodes[node].ty.shape;
            let mut merged = cuts.clone();
            merged.remove(i);
            merged[p].outputs.push(node);
            (same_shape && launch_order(graph, merged.clone(), in_place).is_some()).then_some(merged)
        });
        match merged {
            Some(merged) => cuts = merged,
            None => i += 1,
        }
    }
    cuts.split_off(contractions.len())
}

/// A cut for each node.
pub(super) fn singles(nodes: &[NodeId]) -> Vec<Cut> {
    let single = |&node: &NodeId| Cut { anchor: None, outputs: vec![node], region: BTreeSet::new() };
    nodes.iter().map(single).collect()
}

/// Builds a pointwise group.
pub(super) fn group(
    planner: &Planner<'_>,
    cut: &Cut,
    slots: &BTreeMap<NodeId, Vec<Slot>>,
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Result<Group, NeedsStorage> {
    let graph = planner.graph;
    let shape = graph.nodes[cut.outputs[0]].ty.shape.clone();
    let mut builder = BodyBuilder::new(graph, &planner.uses_coordinates, stored);
    let inside = |node: NodeId| cut.outputs.contains(&node);
    let place = |node: NodeId| IndexMap::identity(graph.nodes[node].ty.rank());
    let region = body::Region::new(Space::Point, shape.len(), &inside, &place);
    let (body, values) = builder.body(&region, &cut.outputs)?;
    let (accesses, fixed) = builder.finish();
    let outside = |node: NodeId| if inside(node) { None } else { stored(node) };
    let nodes = prologue_nodes(planner, &cut.outputs, &outside);
    Ok(Group {
        name: String::new(),
        kind: GroupKind::Pointwise,
        shape,
        nodes,
        accesses,
        fixed,
        stores: Planner::stores(&cut.outputs, &values, slots),
        body,
    })
}
