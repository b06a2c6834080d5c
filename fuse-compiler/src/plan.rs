//! Human-readable plan: groups with reads and writes, saved bytes, refusals.

use std::collections::BTreeSet;

use fuse_artifact::{Function, Kernel, Plan, PlanGroup, Relation, Size, Slot, Text};

use crate::{
    fusion::{
        Group, GroupKind, Groups, Store,
        attention::is_of_row,
        body::KernelAccess,
        live_nodes,
        print::{shape, size, slot},
    },
    graph::{Graph, NodeId, Op, Param, TensorType},
};

/// Describes how `graph`, possibly a rewrite of `written`, was partitioned.
pub fn describe(graph: &Graph, written: &Graph, groups: &Groups, kernels: &[Kernel]) -> Plan {
    let plan_groups = groups.groups.iter().zip(kernels).map(|(group, kernel)| {
        // Single operations of a rewritten graph have no meaningful cost.
        let saves = if graph.nodes.len() == written.nodes.len() { saves(graph, group) } else { String::new() };
        PlanGroup { saves: saves.into(), ..describe_group(graph, group, kernel) }
    });
    let kept = kept(graph, groups);
    let name =
        |store: &&Store| format!("{}: {}", slot(graph, store.slot), type_text(graph, &graph.nodes[store.node].ty));
    let kept_bytes = kept.iter().fold(Size::default(), |sum, store| sum.add(&bytes(&graph.nodes[store.node].ty)));
    Plan {
        signature: signature(graph).into(),
        groups: plan_groups.collect::<Vec<_>>().into(),
        refusals: groups.refusals.clone().into(),
        alternatives: vec![].into(),
        kept: kept.iter().map(|store| name(store).into()).collect::<Vec<_>>().into(),
        kept_bytes: if graph.gradients.is_empty() { "".into() } else { size(graph, &kept_bytes).into() },
        unfused_dispatches: live_operations(written).count() as u32,
        fused_bytes: size(graph, &fused_bytes(graph, groups)).into(),
        unfused_bytes: size(graph, &unfused_bytes(written)).into(),
    }
}

/// Temporaries kept for the backward pass: read by a gradient kernel, without gradient operations or an attention's row
/// statistics.
fn kept<'a>(graph: &Graph, groups: &'a Groups) -> Vec<&'a Store> {
    let backward = |group: &&Group| group.nodes.iter().any(|&node| graph.is_of_gradient(node));
    let read: BTreeSet<Slot> = groups
        .groups
        .iter()
        .filter(backward)
        .flat_map(|group| group.accesses.iter().map(|access| access.access.slot))
        .collect();
    let mut follows: BTreeSet<NodeId> = BTreeSet::new();
    for (id, node) in graph.nodes.iter() {
        if graph.is_of_gradient(id) || node.op.operands().iter().any(|operand| follows.contains(operand)) {
            follows.insert(id);
        }
    }
    let forward = move |group: &Group, store: &Store| {
        !follows.contains(&store.node)
            || matches!(group.kind, GroupKind::Attention(_)) && is_of_row(&group.body, store.value)
    };
    let stores = groups.groups.iter().flat_map(|group| group.stores.iter().map(move |store| (group, store)));
    let kept = stores.filter(|(group, store)| {
        matches!(store.slot, Slot::Temporary(_)) && read.contains(&store.slot) && forward(group, store)
    });
    kept.map(|(_, store)| store).collect()
}

fn type_text(graph: &Graph, ty: &TensorType) -> String {
    if ty.shape.is_empty() { ty.dtype.to_string() } else { format!("{}{}", ty.dtype, shape(graph, &ty.shape)) }
}

fn param_text(graph: &Graph, param: &Param) -> String {
    match &param.quantized {
        Some(quantized) => format!("{}{}", quantized.packing.name(), shape(graph, &param.ty.shape)),
        None => type_text(graph, &param.ty),
    }
}

fn signature(graph: &Graph) -> String {
    let param = |(index, param): (usize, &Param)| {
        let updated = if graph.updates.contains(&(index as u16)) { "&mut " } else { "" };
        format!("{}: {updated}{}", param.name, param_text(graph, param))
    };
    let params: Vec<String> = graph.params.iter().enumerate().map(param).collect();
    let results: Vec<String> = graph.returned().iter().map(|&id| type_text(graph, &graph.nodes[id].ty)).collect();
    let arrow = if results.is_empty() { "" } else { " -> " };
    format!("{}({}){arrow}{}", graph.name, params.join(", "), results.join(", "))
}

fn describe_group(graph: &Graph, group: &Group, kernel: &Kernel) -> PlanGroup {
    let slot_type = |access: &KernelAccess| {
        let name = slot(graph, access.access.slot);
        match access.access.slot {
            Slot::Param(param) => format!("{name}: {}", param_text(graph, &graph.params[usize::from(param)])),
            _ => format!("{name}: {}{}", access.dtype, shape(graph, &access.access.view)),
        }
    };
    let mut reads: Vec<String> = vec![];
    for access in &group.accesses {
        let text = slot_type(access);
        if !reads.contains(&text) {
            reads.push(text);
        }
    }
    let writes = group
        .stores
        .iter()
        .map(|store| format!("{}: {}", slot(graph, store.slot), type_text(graph, &graph.nodes[store.node].ty)));
    let names = |node: &NodeId| graph.nodes[*node].op.name().into();
    let computes = group.nodes.iter().filter(|node| is_operation(&graph.nodes[**node].op));
    PlanGroup {
        kernel: group.name.clone().into(),
        kind: match group.kind {
            GroupKind::Pointwise => "pointwise",
            GroupKind::Reduction(_) => "reduction",
            GroupKind::Contraction(_) => "contraction",
            GroupKind::Attention(_) => "attention",
            GroupKind::WeightedSum(_) => "weighted sum",
        }
        .into(),
        operations: computes.map(names).collect::<Vec<_>>().into(),
        reads: reads.into_iter().map(Into::into).collect::<Vec<_>>().into(),
        writes: writes.map(Into::into).collect::<Vec<_>>().into(),
        saves: "".into(),
        variants: kernel.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>().into(),
    }
}

/// One line: dispatches and assumptions.
pub fn summary(function: &Function) -> Text {
    let kernels: Vec<&str> = function.kernels.iter().map(|k| k.name.rsplit('.').next().unwrap_or(&k.name)).collect();
    let size = |size: &Size| size.display(|id| function.symbol_name(id)).to_string();
    let assumes = function.assumes.iter().map(|check| {
        let relation = if check.relation == Relation::Equal { "=" } else { "<=" };
        format!("{} {relation} {}", size(&check.left), size(&check.right))
    });
    let assumes: Vec<String> = assumes.collect();
    let where_ = if assumes.is_empty() { String::new() } else { format!(", where {}", assumes.join(", ")) };
    format!("{} ({}){where_}", kernels.len(), kernels.join(", ")).into()
}

fn saves(graph: &Graph, group: &Group) -> String {
    let operations: Vec<NodeId> =
        group.nodes.iter().copied().filter(|&node| is_operation(&graph.nodes[node].op)).collect();
    let alone = operations.iter().fold(Size::default(), |sum, &node| sum.add(&operation_bytes(graph, node)));
    let bytes = alone.sub(&group_bytes(graph, group));
    match operations.len() {
        0 | 1 => String::new(),
        2 => format!("1 dispatch, {} bytes", size(graph, &bytes)),
        n => format!("{} dispatches, {} bytes", n - 1, size(graph, &bytes)),
    }
}

fn is_operation(op: &Op) -> bool {
    !matches!(op, Op::Input(_) | Op::Scalar(_) | Op::Literal(_) | Op::Size(_) | Op::Reshape(_) | Op::Broadcast(_))
}

fn live_operations(graph: &Graph) -> impl Iterator<Item = NodeId> + '_ {
    live_nodes(graph).into_iter().filter(|&id| is_operation(&graph.nodes[id].op))
}

fn bytes(ty: &TensorType) -> Size {
    ty.elements().mul(&Size::constant(ty.dtype.bytes()))
}

/// Reads (each buffer once per group) and writes.
fn fused_bytes(graph: &Graph, groups: &Groups) -> Size {
    groups.groups.iter().fold(Size::default(), |sum, group| sum.add(&group_bytes(graph, group)))
}

fn group_bytes(graph: &Graph, group: &Group) -> Size {
    let mut seen: BTreeSet<Slot> = BTreeSet::new();
    let mut sum = Size::default();
    for access in group.accesses.iter().filter(|access| seen.insert(access.access.slot)) {
        let elements = Size::product(access.access.view.iter());
        sum = sum.add(&elements.mul(&Size::constant(access.dtype.bytes())));
    }
    group.stores.iter().fold(sum, |sum, store| sum.add(&bytes(&graph.nodes[store.node].ty)))
}

fn unfused_bytes(graph: &Graph) -> Size {
    live_operations(graph).fold(Size::default(), |sum, id| sum.add(&operation_bytes(graph, id)))
}

fn operation_bytes(graph: &Graph, id: NodeId) -> Size {
    let node = &graph.nodes[id];
    let operands: BTreeSet<NodeId> = node.op.operands().into_iter().map(|x| memory_source(graph, x)).collect();
    let reads =
        operands.iter().filter(|x| !matches!(graph.nodes[**x].op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_)));
    reads.fold(bytes(&node.ty), |sum, x| sum.add(&bytes(&graph.nodes[*x].ty)))
}

fn memory_source(graph: &Graph, mut node: NodeId) -> NodeId {
    while let Op::Reshape(x) | Op::Broadcast(x) = graph.nodes[node].op {
        node = x;
    }
    node
}
