//! What pays: which values go through memory although a kernel could compute them in place.
//!
//! Nothing here may affect correctness.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Policy,
    attention::Pattern,
    body::{Body, ValueId, ValueOp},
    legality::{is_anchor, is_movement, is_pointwise},
};
use crate::graph::{BinaryOp, Graph, NodeId, Op, UnaryOp};

/// Work up to which several kernels each recompute a shared value instead of one storing it.
const MAX_RECOMPUTE_COST: u32 = 12;

const TRANSCENDENTAL: u32 = 8;

/// A shift, a mask, a conversion, and a multiplication with an addition.
const DEQUANTIZE: u32 = 4;

/// Values to store, each with a consumer and the reason.
pub(super) fn values_to_store(
    graph: &Graph,
    live: &BTreeSet<NodeId>,
    attentions: &[Pattern],
    costs: &[u32],
    policy: Policy,
) -> Vec<(NodeId, NodeId, &'static str)> {
    let in_attention = |node: NodeId| attentions.iter().any(|pattern| pattern.nodes.contains(&node));
    let mut found = vec![];
    for &id in live {
        let op = &graph.nodes[id].op;
        if graph.options.no_fuse {
            found.extend(op.operands().into_iter().filter_map(|operand| {
                let source = through_movements(graph, operand);
                let stored = is_pointwise(&graph.nodes[source].op) || is_anchor(&graph.nodes[source].op);
                stored.then_some((source, id, "`#[no_fuse]` was asked for"))
            }));
        } else if let Op::Matmul { lhs, rhs } = *op {
            for operand in [lhs, rhs] {
                let source = through_movements(graph, operand);
                let pointwise = is_pointwise(&graph.nodes[source].op) && !in_attention(source);
                if pointwise && costs[source.index()] > policy.prologue {
                    found.push((
                        source,
                        id,
                        "computing it again for every tile would cost more than a trip through memory",
                    ));
                }
            }
        }
    }
    if !graph.options.no_fuse {
        let normalized = |node: NodeId| policy.operand_rows && policy.siblings && depends_on_rows(graph, node);
        found.extend(shared_values(graph, live, costs).into_iter().filter(|&(node, ..)| {
            // One kernel computes what several products have as their left operand.
            let shared = !(normalized(node) && is_left_operand(graph, live, node));
            shared || costs[node.index()] > policy.prologue
        }));
    }
    found
}

/// Expensive values that reach several contractions or results through different consumers.
fn shared_values(graph: &Graph, live: &BTreeSet<NodeId>, costs: &[u32]) -> Vec<(NodeId, NodeId, &'static str)> {
    let mut readers: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
    for &id in live {
        for operand in graph.nodes[id].op.operands() {
            readers.entry(operand).or_default().insert(id);
        }
    }
    let mut found = vec![];
    for (&node, readers) in &readers {
        let contractions = readers.iter().filter(|&&r| matches!(graph.nodes[r].op, Op::Matmul { .. }));
        let moved = readers
            .iter()
            .filter(|&&r| is_movement(&graph.nodes[r].op) && !matches!(graph.nodes[r].op, Op::Reshape(_)));
        let separate = contractions.count() + moved.count();
        if is_pointwise(&graph.nodes[node].op)
            && readers.len() > 1
            && separate > 0
            && costs[node.index()] > MAX_RECOMPUTE_COST
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

/// Whether all that use a value are products of which it is the left operand.
fn is_left_operand(graph: &Graph, live: &BTreeSet<NodeId>, node: NodeId) -> bool {
    let mut readers = live.iter().map(|&id| &graph.nodes[id].op).filter(|op| op.operands().contains(&node));
    readers.all(|op| matches!(*op, Op::Matmul { lhs, rhs } if lhs == node && rhs != node))
}

/// Whether a value is computed from a reduction, pointwise.
fn depends_on_rows(graph: &Graph, node: NodeId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![node]);
    while let Some(node) = pending.pop() {
        let op = &graph.nodes[node].op;
        if let Op::Reduce { .. } = op {
            return true;
        }
        if seen.insert(node) && (is_pointwise(op) || is_movement(op)) {
            pending.extend(op.operands());
        }
    }
    false
}

/// The value under permutes, slices, broadcasts and reshapes.
fn through_movements(graph: &Graph, mut node: NodeId) -> NodeId {
    while is_movement(&graph.nodes[node].op) {
        node = graph.nodes[node].op.operands()[0];
    }
    node
}

/// For each node, the work of computing one element of it from what is in memory.
pub(super) fn recompute_costs(graph: &Graph) -> Vec<u32> {
    let mut costs = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.nodes.iter() {
        let cost = match &node.op {
            op if is_anchor(op) => 0,
            op => op.operands().iter().fold(operation_cost(op), |sum: u32, x| sum.saturating_add(costs[x.index()])),
        };
        costs.push(cost);
    }
    costs
}

/// The work of one operation on one element, in units of one simple arithmetic operation.
fn operation_cost(op: &Op) -> u32 {
    match op {
        Op::Unary(op, _) => unary_cost(*op),
        Op::Binary(op, ..) => binary_cost(*op),
        Op::Compare(..) | Op::Select { .. } | Op::Cast(_) => 1,
        _ => 0,
    }
}

/// The work of some of a program's values, in the same units.
pub fn values_cost(body: &Body, values: impl Iterator<Item = ValueId>) -> u32 {
    values.fold(0, |sum: u32, value| sum.saturating_add(value_cost(&body.values[value].op)))
}

/// The work of a program.
pub fn body_cost(body: &Body) -> u32 {
    values_cost(body, 0..body.values.len())
}

fn value_cost(op: &ValueOp) -> u32 {
    match op {
        ValueOp::Unary(op, _) => unary_cost(*op),
        ValueOp::Binary(op, ..) => binary_cost(*op),
        ValueOp::Compare(..) | ValueOp::Select(..) | ValueOp::Cast(_) | ValueOp::Reduce(..) => 1,
        ValueOp::Dequantize(_) => DEQUANTIZE,
        ValueOp::Load(_)
        | ValueOp::LoadAt { .. }
        | ValueOp::Sum(_)
        | ValueOp::Size(_)
        | ValueOp::Coordinate { .. }
        | ValueOp::Scalar(_)
        | ValueOp::Literal(_) => 0,
    }
}

fn binary_cost(op: BinaryOp) -> u32 {
    match op {
        BinaryOp::Pow => 2 * TRANSCENDENTAL,
        // Ten rounds of two wide products.
        BinaryOp::Philox => 100,
        _ => 1,
    }
}

fn unary_cost(op: UnaryOp) -> u32 {
    use UnaryOp as U;
    match op {
        U::Neg | U::Not | U::Abs | U::Sign | U::Floor | U::Ceil | U::Round | U::Relu => 1,
        U::Recip | U::Sqrt | U::Rsqrt | U::HardSigmoid | U::HardSwish => 3,
        U::Exp | U::Exp2 | U::Log | U::Log2 | U::Log1p | U::Expm1 | U::Sin | U::Cos | U::Sigmoid | U::Silu => {
            TRANSCENDENTAL
        }
        U::Tan | U::Tanh | U::Atan | U::Erf | U::Selu | U::Gelu | U::GeluTanh | U::Softplus | U::Mish => {
            2 * TRANSCENDENTAL
        }
    }
}
