//! How much arithmetic a kernel does per element, for estimates of time at launch.
//!
//! Input: a group. Output: [`Work`], in the units of `fusion::heuristics`. Not here: how long it takes, which the runtime
//! estimates.

use std::collections::BTreeSet;

use fuse_artifact::Work;

use crate::{
    fusion::{
        Group, GroupKind,
        body::{Body, ValueId, ValueOp},
        heuristics::operation_cost,
        levels::operand_parts,
    },
    graph::{NodeId, Op},
};

/// The arithmetic of a group's bodies.
pub fn work(group: &Group) -> Work {
    // A group that computes nothing does no work.
    let Some(&node) = group.nodes.first() else { return Work::default() };
    let of = |body: &Body| of_body(body, node);
    let point = of(&group.body);
    match &group.kind {
        GroupKind::Pointwise | GroupKind::Reduction(_) => Work { point, ..Work::default() },
        GroupKind::Contraction(contraction) => {
            let rhs = contraction.rhs.iter().fold(0, |sum: u32, (body, _)| sum.saturating_add(of(body)));
            let (body, value) = &contraction.lhs;
            let parts = operand_parts(body, *value, &group.accesses, group.shape.len() - 1);
            let sum = |values: &BTreeSet<ValueId>| of_values(body, values.iter().copied(), node);
            let row = parts.stages.iter().fold(0, |total: u32, stage| total.saturating_add(sum(stage)));
            Work {
                point,
                lhs: sum(&parts.elements),
                rhs,
                row,
                row_passes: parts.stages.len() as u32,
                ..Work::default()
            }
        }
        GroupKind::Attention(attention) => Work {
            point,
            lhs: of(&attention.query.0),
            rhs: of(&attention.key.0),
            score: of(&attention.score.0),
            value: of(&attention.value.0),
            ..Work::default()
        },
    }
}

/// Simple operations of one evaluation. The cost of an operation does not depend on its operands, for which `node` stands.
fn of_body(body: &Body, node: NodeId) -> u32 {
    of_values(body, 0..body.values.len(), node)
}

fn of_values(body: &Body, values: impl Iterator<Item = ValueId>, node: NodeId) -> u32 {
    let cost = |op: &ValueOp| match *op {
        ValueOp::Unary(op, _) => operation_cost(&Op::Unary(op, node)),
        ValueOp::Binary(op, ..) => operation_cost(&Op::Binary(op, node, node)),
        ValueOp::Compare(..) | ValueOp::Select(..) | ValueOp::Cast(_) | ValueOp::Reduce(..) => 1,
        _ => 0,
    };
    values.fold(0, |sum: u32, value| sum.saturating_add(cost(&body.values[value].op)))
}
