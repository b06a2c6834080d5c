//! Reduction groups: reductions over the same rows and their pointwise operations.

use std::collections::BTreeMap;

use fuse_artifact::{Slot, Space};

use super::{
    Cut, Group, GroupKind, Planner, Reduction, Store,
    body::{KernelAccess, NeedsStorage},
    body_builder::{BodyBuilder, Region},
    contraction::prologue_nodes,
    rows::RowSpace,
};
use crate::graph::{Graph, NodeId, Op};

pub(super) fn group(
    planner: &Planner<'_>,
    cut: &Cut,
    rows: &RowSpace,
    slots: &BTreeMap<NodeId, Vec<Slot>>,
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Result<Group, NeedsStorage> {
    let graph = planner.graph;
    let mut builder = BodyBuilder::new(graph, &planner.uses_coordinates, stored);
    let inside = |node: NodeId| cut.region.contains(&node);
    // A permute outside the region is an ordinary operand.
    let place = |node: NodeId| match inside(node) {
        true => rows.place(graph, node),
        false => rows.place_of(&graph.nodes[node].ty),
    };
    let rank = rows.shape.len();
    let region = Region::new(Space::Point, rank, &inside, &place);
    let (body, values) = builder.body(&region, &cut.outputs)?;
    let (accesses, fixed) = builder.finish();
    let outside = |node: NodeId| if inside(node) { None } else { stored(node) };
    let nodes = prologue_nodes(planner, &cut.outputs, &outside);
    let stores = cut.outputs.iter().zip(values).flat_map(|(&node, value)| {
        let places = slots[&node].iter();
        places.map(move |&slot| Store { node, value, slot, access: Some(store_access(graph, rows, node, slot)) })
    });
    Ok(Group {
        name: String::new(),
        kind: GroupKind::Reduction(Reduction { axes: rows.axes.len() }),
        shape: rows.extents(),
        stores: stores.collect(),
        nodes,
        accesses,
        fixed,
        body,
    })
}

pub(super) fn store_access(graph: &Graph, rows: &RowSpace, node: NodeId, slot: Slot) -> KernelAccess {
    let (ty, rank) = (&graph.nodes[node].ty, rows.shape.len());
    let access = rows.place(graph, node).access(slot, Space::Point, &ty.shape, rank);
    KernelAccess { access, dtype: ty.dtype, may_repeat: vec![false; rank], gathered: false }
}

pub(super) fn name(planner: &Planner<'_>, cut: &Cut) -> String {
    let ops = cut.region.iter().filter_map(|&node| match planner.graph.nodes[node].op {
        Op::Reduce { op, .. } => Some(op.name()),
        _ => None,
    });
    let mut names: Vec<&str> = vec![];
    for op in ops {
        if !names.contains(&op) {
            names.push(op);
        }
    }
    names.join("_")
}
