//! Contraction groups: a product with the pointwise operations around it.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Check, Relation, Size, Slot, Space};

use super::{
    Contraction, Cut, Group, GroupKind, Planner, Policy,
    body::{KernelAccess, NeedsStorage, ValueOp},
    body_builder::{BodyBuilder, Region},
    index::strip_reshapes,
    rows::{Extent, RowSpace},
};
use crate::graph::{Graph, NodeId, Op};

pub(super) fn group(
    planner: &Planner<'_>,
    cut: &Cut,
    products: &[NodeId],
    slots: &BTreeMap<NodeId, Vec<Slot>>,
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Result<Group, NeedsStorage> {
    let graph = planner.graph;
    let operands = |product: NodeId| match graph.nodes[product].op {
        Op::Matmul { lhs, rhs } => (lhs, rhs),
        _ => unreachable!("a contraction's anchor is a product"),
    };
    let (lhs, _) = operands(products[0]);
    let shape = graph.nodes[products[0]].ty.shape.clone();
    let rank = shape.len();
    let rows = RowSpace { shape: shape.clone(), axes: vec![rank - 1] };
    let mut builder = BodyBuilder::new(graph, &planner.uses_coordinates, stored);
    let inside = |node: NodeId| cut.region.contains(&node);
    // A permute outside the region is an ordinary operand.
    let place = |node: NodeId| match inside(node) {
        true => rows.place(graph, node),
        false => rows.place_of(&graph.nodes[node].ty),
    };
    let point = Region { sums: products, ..Region::new(Space::Point, rank, &inside, &place) };
    let operand = |space, product| Region { operand_of: Some(product), ..Region::new(space, rank, &|_| false, &place) };
    let depth = graph.nodes[lhs].ty.shape[rank - 1].clone();
    let row_prologue = planner.policy.row_prologue.then_some(&depth);
    let left = Region { row_prologue, ..operand(Space::Lhs, products[0]) };
    let (lhs_body, lhs_values) = builder.body(&left, &[lhs])?;
    let mut programs = Vec::with_capacity(products.len());
    for &product in products {
        let (body, values) = builder.body(&operand(Space::Rhs, product), &[operands(product).1])?;
        programs.push((body, values[0]));
    }
    let (body, values) = builder.body(&point, &cut.outputs)?;
    let (accesses, fixed) = builder.finish();
    let roots: Vec<NodeId> = products.iter().flat_map(|&product| [lhs, operands(product).1]).collect();
    let mut nodes = prologue_nodes(planner, &roots, stored);
    nodes.extend(&cut.region);
    let mut stores = Planner::stores(&cut.outputs, &values, slots);
    for store in &mut stores {
        let ty = &graph.nodes[store.node].ty;
        if rows.extent(&ty.shape) == Some(Extent::Row) {
            let access = rows.place(graph, store.node).access(store.slot, Space::Point, &ty.shape, rank);
            let may_repeat = vec![false; rank];
            store.access = Some(KernelAccess { access, dtype: ty.dtype, may_repeat, gathered: false });
        }
    }
    Ok(Group {
        name: String::new(),
        kind: GroupKind::Contraction(Box::new(Contraction {
            matmuls: products.to_vec(),
            depth,
            lhs: (lhs_body, lhs_values[0]),
            rhs: programs,
        })),
        shape,
        nodes,
        accesses,
        fixed,
        stores,
        body,
    })
}

/// Checks of a contraction that reduces rows: a workgroup owns a row, and each storing row has a workgroup.
pub(super) fn assumptions(graph: &Graph, group: &Group) -> Vec<Check> {
    let reduces = group.body.values.iter().any(|value| matches!(value.op, ValueOp::Reduce(..)));
    let Some(columns) = group.shape.last().filter(|columns| reduces && columns.as_constant().is_none()) else {
        return vec![];
    };
    let what = format!("columns of `matmul` in `{}` that one workgroup can own", graph.name);
    let check = |left: &Size, right: &Size| Check {
        relation: Relation::AtMost,
        left: left.clone(),
        right: right.clone(),
        what: what.clone().into(),
    };
    let mut checks = vec![check(columns, &Size::constant(Policy::FUSED.owned_columns))];
    if group.stores.iter().any(|store| store.access.is_some()) {
        checks.push(check(&Size::ONE, columns));
    }
    checks
}

pub(super) fn prologue_nodes(
    planner: &Planner<'_>,
    roots: &[NodeId],
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Vec<NodeId> {
    let mut found = BTreeSet::new();
    let mut pending = roots.to_vec();
    while let Some(node) = pending.pop() {
        let op = &planner.graph.nodes[node].op;
        let leaf = matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Input(_));
        if leaf || stored(strip_reshapes(planner.graph, node)).is_some() || !found.insert(node) {
            continue;
        }
        pending.extend(op.operands());
    }
    found.into_iter().collect()
}
