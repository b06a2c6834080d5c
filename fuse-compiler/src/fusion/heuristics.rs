//! Fusion profitability: values to materialize although a kernel could compute them.
//!
//! Nothing here may affect correctness.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Size};

use super::{
    Policy,
    attention_pattern::Pattern,
    body::{Body, Value, ValueId, ValueOp},
    pieces,
};
use crate::graph::{Graph, NodeId, Op};

/// For a value that several kernels recompute.
const MAX_RECOMPUTE_COST: u32 = 12;

/// Store and load, in simple operations (`cost`).
pub(super) const STORE_COST: u32 = 40;

/// For a broadcast of smaller values, whose storage saves no reads and takes more memory.
const MAX_REPEATED_COST: u32 = 64;

/// Copies of a broadcast value for which recomputation pays.
const MAX_COPIES: u64 = 8;

/// Cached load, in simple operations.
pub(super) const LOAD: u32 = 4;

/// Shift, mask, conversion, multiply-add.
const DEQUANTIZE: u32 = 4;

pub(super) fn values_to_store(
    graph: &Graph,
    (live, users): (&BTreeSet<NodeId>, &[BTreeSet<NodeId>]),
    attentions: &[Pattern],
    costs: &[u32],
    policy: Policy,
) -> Vec<(NodeId, NodeId, &'static str)> {
    let unstored: BTreeSet<NodeId> = attentions.iter().flat_map(Pattern::unstored).collect();
    let outputs: BTreeSet<NodeId> = attentions.iter().map(|pattern| pattern.output).collect();
    let in_attention = |node: NodeId| unstored.contains(&node) || outputs.contains(&node);
    let mut found = vec![];
    for &id in live {
        let op = &graph.nodes[id].op;
        if graph.options.no_fuse {
            found.extend(op.operands().into_iter().filter_map(|operand| {
                let source = graph.through_movements(operand);
                let stored = graph.nodes[source].op.is_pointwise() || graph.nodes[source].op.is_anchor();
                stored.then_some((source, id, "`#[no_fuse]` was asked for"))
            }));
        } else if let Op::Matmul { lhs, rhs } = *op {
            for operand in [lhs, rhs] {
                let source = graph.through_movements(operand);
                if !graph.nodes[source].op.is_pointwise() || in_attention(source) {
                    continue;
                }
                if costs[source.index()] > policy.prologue {
                    found.push((
                        source,
                        id,
                        "computing it again for every tile would cost more than a trip through memory",
                    ));
                } else if policy.stores_f16 && !in_attention(id) && is_f16_matrix(graph, id, source) {
                    found.push((source, id, "cooperative matrices multiply only what is in memory"));
                }
            }
        }
    }
    if !graph.options.no_fuse {
        found.extend(pieces::groups_to_store(graph, users));
        let normalized = |node: NodeId| policy.row_prologue && policy.siblings && depends_on_rows(graph, node);
        found.extend(shared_values(graph, users, costs).into_iter().filter(|&(node, ..)| {
            if unstored.contains(&node) {
                return false;
            }
            let shared = !(normalized(node) && is_left_operand(graph, users, node));
            shared || costs[node.index()] > policy.prologue
        }));
    }
    found
}

fn shared_values(graph: &Graph, users: &[BTreeSet<NodeId>], costs: &[u32]) -> Vec<(NodeId, NodeId, &'static str)> {
    let mut found = vec![];
    for (node, readers) in graph.nodes.handles().zip(users) {
        let contractions = readers.iter().filter(|&&r| matches!(graph.nodes[r].op, Op::Matmul { .. }));
        let moved = readers
            .iter()
            .filter(|&&r| graph.nodes[r].op.is_movement() && !matches!(graph.nodes[r].op, Op::Reshape(_)));
        let separate = contractions.count() + moved.count();
        if graph.nodes[node].op.is_pointwise()
            && readers.len() > 1
            && separate > 0
            && costs[node.index()] > MAX_RECOMPUTE_COST
            && !(is_cheap_to_repeat(graph, node) && readers.iter().all(|&reader| copies_few(graph, reader)))
        {
            let consumer = readers.iter().next_back().copied().unwrap_or(node);
            found.push((
                node,
                consumer,
                "several kernels use it and recomputing it would cost more than a trip through memory",
            ));
        }
    }
    found
}

/// Dequantized values stay out of memory.
fn is_f16_matrix(graph: &Graph, product: NodeId, node: NodeId) -> bool {
    let [own, product] = [node, product].map(|node| graph.nodes[node].ty.dtype);
    own == DType::F16 && product == DType::F16 && !dequantizes(graph, node)
}

pub(super) fn dequantizes(graph: &Graph, node: NodeId) -> bool {
    computed_from(graph, node).into_iter().any(|node| matches!(graph.nodes[node].op, Op::Dequantize(_)))
}

/// True if broadcasts make a costly value of smaller ones.
pub(super) fn is_cheap_to_repeat(graph: &Graph, node: NodeId) -> bool {
    let operations = computed_from(graph, node).into_iter().map(|node| operation_cost(&graph.nodes[node].op));
    is_repeated(graph, node) && operations.fold(0, u32::saturating_add) <= MAX_REPEATED_COST
}

/// True if a reader evaluates a value a few times per element; a product does so for every tile.
fn copies_few(graph: &Graph, reader: NodeId) -> bool {
    let node = &graph.nodes[reader];
    match node.op {
        Op::Matmul { .. } => false,
        Op::Broadcast(x) => {
            let from = &graph.nodes[x].ty.shape;
            let known = from.len() == node.ty.rank();
            let axes = from.iter().zip(&node.ty.shape).filter(|(from, to)| from != to);
            let copies = Size::product(axes.map(|(_, to)| to)).as_constant();
            known && copies.is_some_and(|copies| copies <= MAX_COPIES)
        }
        _ => true,
    }
}

/// True if broadcasts repeat every input.
pub(super) fn is_repeated(graph: &Graph, node: NodeId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![node]);
    while let Some(node) = pending.pop() {
        let (op, shape) = (&graph.nodes[node].op, &graph.nodes[node].ty.shape);
        match op {
            _ if !seen.insert(node) => {}
            Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Index { .. } => {}
            Op::Broadcast(x) if repeats(&graph.nodes[*x].ty.shape, shape) => {}
            op if op.is_pointwise() || op.is_movement() => pending.extend(op.operands()),
            _ => return false,
        }
    }
    true
}

fn repeats(from: &[Size], to: &[Size]) -> bool {
    from.is_empty() || from.iter().zip(to).any(|(from, to)| from.is_one() && !to.is_one())
}

fn computed_from(graph: &Graph, node: NodeId) -> BTreeSet<NodeId> {
    let (mut found, mut pending) = (BTreeSet::new(), vec![node]);
    while let Some(node) = pending.pop() {
        if found.insert(node) && !graph.nodes[node].op.is_anchor() {
            pending.extend(graph.nodes[node].op.operands());
        }
    }
    found
}

fn is_left_operand(graph: &Graph, users: &[BTreeSet<NodeId>], node: NodeId) -> bool {
    let mut readers = users[node.index()].iter().map(|&id| &graph.nodes[id].op);
    readers.all(|op| matches!(*op, Op::Matmul { lhs, rhs } if lhs == node && rhs != node))
}

fn depends_on_rows(graph: &Graph, node: NodeId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![node]);
    while let Some(node) = pending.pop() {
        let op = &graph.nodes[node].op;
        if let Op::Reduce { .. } = op {
            return true;
        }
        if seen.insert(node) && (op.is_pointwise() || op.is_movement()) {
            pending.extend(op.operands());
        }
    }
    false
}

pub(super) fn recompute_costs(graph: &Graph) -> Vec<u32> {
    let mut costs = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.nodes.iter() {
        let cost = match &node.op {
            op if op.is_anchor() => 0,
            op => op.operands().iter().fold(operation_cost(op), |sum: u32, x| sum.saturating_add(costs[x.index()])),
        };
        costs.push(cost);
    }
    costs
}

/// In simple arithmetic operations per element.
pub(super) fn operation_cost(op: &Op) -> u32 {
    match op {
        Op::Unary(op, _) => op.row().cost,
        Op::Binary(op, ..) => op.row().cost,
        Op::Compare(..) | Op::Select { .. } | Op::Cast(_) => 1,
        _ => 0,
    }
}

/// Cost of some values, in simple operations.
pub fn values_cost(body: &Body, values: impl Iterator<Item = ValueId>) -> u32 {
    values.fold(0, |sum: u32, value| sum.saturating_add(value_cost(&body.values[value].op)))
}

/// In simple operations.
pub fn body_cost(body: &Body) -> u32 {
    let repeated = u32::try_from(repeated_loads(body)).unwrap_or(u32::MAX).saturating_mul(LOAD);
    values_cost(body, 0..body.values.len()).saturating_add(repeated)
}

fn repeated_loads(body: &Body) -> usize {
    let access = |value: &Value| match value.op {
        ValueOp::Gather { access, .. } => Some(access),
        _ => None,
    };
    let accesses: Vec<u16> = body.values.iter().filter_map(access).collect();
    accesses.len() - accesses.iter().collect::<BTreeSet<_>>().len()
}

fn value_cost(op: &ValueOp) -> u32 {
    match op {
        ValueOp::Unary(op, _) => op.row().cost,
        ValueOp::Binary(op, ..) => op.row().cost,
        ValueOp::Compare(..) | ValueOp::Select(..) | ValueOp::Cast(_) | ValueOp::Reduce(..) => 1,
        ValueOp::Dequantize(_) => DEQUANTIZE,
        ValueOp::Load(_)
        | ValueOp::Gather { .. }
        | ValueOp::Accumulator(_)
        | ValueOp::Size(_)
        | ValueOp::Coordinate { .. }
        | ValueOp::Scalar(_)
        | ValueOp::Literal(_) => 0,
    }
}
