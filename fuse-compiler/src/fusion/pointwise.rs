//! Pointwise groups: values of equal shape in one kernel.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fuse_artifact::{Size, Slot, Space};

use super::{
    Cut, Group, GroupKind, Planner,
    body::NeedsStorage,
    body_builder::{BodyBuilder, Region},
    contraction::prologue_nodes,
    dependencies::Dependencies,
    dependencies::InPlace,
    index::IndexMap,
};
use crate::graph::NodeId;

/// Merges single-node cuts from `first` on by shape, without cycles and within the binding limit. A forced node stays
/// alone, since it did not fit the kernels around it.
pub(super) fn merge(
    planner: &Planner<'_>,
    (cuts, first): (&mut [Cut], usize),
    dependencies: &mut Dependencies,
    in_place: &InPlace,
) {
    let (graph, most) = (planner.graph, planner.policy.bindings);
    let mut buffers = dependencies.buffers(cuts, in_place);
    let mut partners: HashMap<&[Size], Vec<usize>> = HashMap::new();
    for number in first..cuts.len() {
        let node = cuts[number].outputs[0];
        if graph.options.no_fuse || planner.forced.contains(&node) {
            continue;
        }
        let alike = partners.entry(&graph.nodes[node].ty.shape).or_default();
        let parted = if alike.is_empty() { vec![] } else { dependencies.parted_from(number) };
        let fits = |partner: usize| buffers[partner].union(&buffers[number]).count() <= most;
        match alike.iter().position(|&partner| !parted[partner] && fits(partner)) {
            Some(position) => {
                let partner = alike[position];
                dependencies.merge(partner, number);
                cuts[partner].outputs.push(node);
                let more = std::mem::take(&mut buffers[number]);
                buffers[partner].extend(more);
                if buffers[partner].len() >= most {
                    alike.remove(position);
                }
            }
            None => alike.push(number),
        }
    }
}

pub(super) fn singles(nodes: &[NodeId]) -> Vec<Cut> {
    let single = |&node: &NodeId| Cut { anchor: None, outputs: vec![node], region: BTreeSet::new() };
    nodes.iter().map(single).collect()
}

pub(super) fn group(
    planner: &Planner<'_>,
    cut: &Cut,
    slots: &BTreeMap<NodeId, Vec<Slot>>,
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Result<Group, NeedsStorage> {
    let graph = planner.graph;
    let shape = graph.nodes[cut.outputs[0]].ty.shape.clone();
    let mut builder = BodyBuilder::new(graph, &planner.uses_coordinates, stored);
    let outputs: BTreeSet<NodeId> = cut.outputs.iter().copied().collect();
    let inside = |node: NodeId| outputs.contains(&node);
    let place = |node: NodeId| IndexMap::identity(graph.nodes[node].ty.rank());
    let region = Region::new(Space::Point, shape.len(), &inside, &place);
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
