//! Cost model of plans at given sizes, for compile-time comparisons and the oracle test.
//!
//! Time = dispatches + bytes moved + arithmetic; each group reads every buffer once. Constants are an NVIDIA H200's
//! (`docs/experiments.md`); only ratios matter.

use std::collections::BTreeSet;

use fuse_artifact::{Size, Slot};

use super::{
    Group, GroupKind, Groups,
    body::{Body, ValueId},
    heuristics::{LOAD, body_cost, values_cost},
    reduction_depth::operand_parts,
};
use crate::graph::{Graph, NodeId};

/// Seconds.
const DISPATCH: f64 = 2e-6;

/// Bytes per second.
const BANDWIDTH: f64 = 4.2e12;

/// Per second, outside products.
const OPERATIONS: f64 = 2e13;

/// Per second, in products.
const MULTIPLY_ADDS: f64 = 2e13;

/// Rows or columns of a tile. An operand's prologue runs once per reading tile.
const TILE: f64 = 128.0;

/// Estimated seconds with `symbols[i]` for symbol `i`; infinite for negative sizes.
pub fn seconds(graph: &Graph, groups: &Groups, symbols: &[u64]) -> f64 {
    groups.groups.iter().map(|group| group_seconds(graph, group, symbols)).sum()
}

fn group_seconds(graph: &Graph, group: &Group, symbols: &[u64]) -> f64 {
    let number = |size: &Size| size.eval(symbols).map_or(f64::INFINITY, |value| value as f64);
    let elements = |sizes: &[Size]| sizes.iter().map(number).product::<f64>();
    let node_bytes = |node: NodeId| {
        let ty = &graph.nodes[node].ty;
        elements(&ty.shape) * ty.dtype.bytes() as f64
    };
    let mut seen: BTreeSet<Slot> = BTreeSet::new();
    let reads = group.accesses.iter().filter(|access| seen.insert(access.access.slot));
    let read: f64 = reads.map(|access| elements(&access.access.view) * access.dtype.bytes() as f64).sum();
    let written: f64 = group.stores.iter().map(|store| node_bytes(store.node)).sum();
    let points = elements(&group.shape);
    let own = points * operations(&group.body);
    let (prologues, products) = match &group.kind {
        GroupKind::Pointwise | GroupKind::Reduction(_) => (0.0, 0.0),
        GroupKind::Contraction(contraction) => {
            let depth = number(&contraction.depth);
            let right: f64 = contraction.rhs.iter().map(|(body, _)| operations(body)).sum();
            let again = points * depth / TILE;
            let (body, value) = &contraction.lhs;
            let parts = operand_parts(body, *value, &group.accesses, group.shape.len() - 1);
            // Each pass loads the rows again.
            let pass = |stage: &BTreeSet<ValueId>| f64::from(values_cost(body, stage.iter().copied()) + LOAD);
            let passes = parts.stages.iter().map(pass).sum::<f64>();
            let left = f64::from(values_cost(body, parts.elements.iter().copied())) + passes;
            (again * (left + right), points * depth * contraction.rhs.len() as f64)
        }
        GroupKind::Attention(attention) => {
            let rank = group.shape.len();
            let rows = elements(&group.shape[..rank - 1]);
            let (keys, depth, columns) =
                (number(&attention.keys), number(&attention.depth), number(&group.shape[rank - 1]));
            let operands =
                operations(&attention.query.0) + operations(&attention.key.0) + operations(&attention.value.0);
            let again = rows * keys * (depth / TILE * operands + operations(&attention.score.0));
            (again, rows * keys * (depth + columns))
        }
        GroupKind::WeightedSum(sum) => {
            let rank = group.shape.len();
            let scores = elements(&group.shape[..rank - 1]) * number(&sum.keys);
            let columns = number(&group.shape[rank - 1]) * sum.values.len() as f64;
            let depth: f64 = sum.products.iter().map(|product| number(&product.depth)).sum();
            let sides = sum.products.iter().flat_map(|product| [&product.lhs, &product.rhs]);
            let operands: f64 = sides.chain(&sum.values).map(|(body, _)| operations(body)).sum();
            (scores * (depth / TILE * operands + operations(&sum.weights.0)), scores * (depth + columns))
        }
    };
    DISPATCH + (read + written) / BANDWIDTH + (own + prologues) / OPERATIONS + products / MULTIPLY_ADDS
}

fn operations(body: &Body) -> f64 {
    body_cost(body).into()
}
