//! The plan of a function for people: groups, what they read and write, bytes saved, reasons for refusals.

use std::collections::BTreeSet;

use fuse_artifact::{Kernel, Plan, PlanGroup, Size, Slot};

use crate::{
    fusion::{
        Group, GroupKind, Groups,
        body::KernelAccess,
        live_nodes,
        print::{shape, size, slot},
    },
    graph::{Graph, NodeId, Op, TensorType},
};

/// Describes how `graph` was cut into `groups`.
pub fn describe(graph: &Graph, groups: &Groups, kernels: &[Kernel]) -> Plan {
    let plan_groups = groups.groups.iter().zip(kernels).map(|(group, kernel)| describe_group(graph, group, kernel));
    Plan {
        signature: signature(graph).into(),
        groups: plan_groups.collect::<Vec<_>>().into(),
        refusals: groups.refusals.clone().into(),
        unfused_dispatches: live_operations(graph).count() as u32,
        fused_bytes: size(graph, &fused_bytes(graph, groups)).into(),
        unfused_bytes: size(graph, &unfused_bytes(graph)).into(),
    }
}

fn type_text(graph: &Graph, ty: &TensorType) -> String {
    if ty.shape.is_empty() { ty.dtype.to_string() } else { format!("{}{}", ty.dtype, shape(graph, &ty.shape)) }
}

fn signature(graph: &Graph) -> String {
    let params: Vec<String> =
        graph.params.iter().map(|param| format!("{}: {}", param.name, type_text(graph, &param.ty))).collect();
    let results: Vec<String> = graph.results.iter().map(|&id| type_text(graph, &graph.nodes[id].ty)).collect();
    format!("{}({}) -> {}", graph.name, params.join(", "), results.join(", "))
}

fn describe_group(graph: &Graph, group: &Group, kernel: &Kernel) -> PlanGroup {
    let slot_type = |access: &KernelAccess| {
        let name = slot(graph, access.access.slot);
        match access.access.slot {
            Slot::Param(param) => format!("{name}: {}", type_text(graph, &graph.params[usize::from(param)].ty)),
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
        }
        .into(),
        operations: computes.map(names).collect::<Vec<_>>().into(),
        reads: reads.into_iter().map(Into::into).collect::<Vec<_>>().into(),
        writes: writes.map(Into::into).collect::<Vec<_>>().into(),
        saves: String::new().into(),
        variants: kernel.variants.iter().map(|variant| variant.name.clone()).collect::<Vec<_>>().into(),
    }
}

/// Whether an operation would be a kernel of its own without fusion.
fn is_operation(op: &Op) -> bool {
    !matches!(op, Op::Input(_) | Op::Scalar(_) | Op::Literal(_) | Op::Reshape(_) | Op::Broadcast(_))
}

fn live_operations(graph: &Graph) -> impl Iterator<Item = NodeId> + '_ {
    live_nodes(graph).into_iter().filter(|&id| is_operation(&graph.nodes[id].op))
}

fn bytes(ty: &TensorType) -> Size {
    ty.elements().mul(&Size::constant(ty.dtype.bytes()))
}

/// Bytes that the groups read (each buffer once per group) and write.
fn fused_bytes(graph: &Graph, groups: &Groups) -> Size {
    let mut sum = Size::default();
    for group in &groups.groups {
        let mut seen: BTreeSet<Slot> = BTreeSet::new();
        for access in group.accesses.iter().filter(|access| seen.insert(access.access.slot)) {
            let elements = Size::product(access.access.view.iter());
            sum = sum.add(&elements.mul(&Size::constant(access.dtype.bytes())));
        }
        sum = group.stores.iter().fold(sum, |sum, store| sum.add(&bytes(&graph.nodes[store.node].ty)));
    }
    sum
}

/// Bytes that one kernel per operation would read and write.
fn unfused_bytes(graph: &Graph) -> Size {
    let mut sum = Size::default();
    for id in live_operations(graph) {
        let node = &graph.nodes[id];
        let operands: BTreeSet<NodeId> = node.op.operands().into_iter().map(|x| memory_source(graph, x)).collect();
        let reads = operands.iter().filter(|x| !matches!(graph.nodes[**x].op, Op::Literal(_) | Op::Scalar(_)));
        sum = reads.fold(sum, |sum, x| sum.add(&bytes(&graph.nodes[*x].ty))).add(&bytes(&node.ty));
    }
    sum
}

/// The value in memory that an operand is read from: reshapes and broadcasts cost nothing.
fn memory_source(graph: &Graph, mut node: NodeId) -> NodeId {
    while let Op::Reshape(x) | Op::Broadcast(x) = graph.nodes[node].op {
        node = x;
    }
    node
}
