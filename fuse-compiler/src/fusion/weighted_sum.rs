//! Weighted-sum groups, `Σ f(a·b, c·d)[m, n] · w[n, :]` with unstored weights: attention gradients.
//!
//! Input: [`WeightedSums`]. Output: their [`Group`] without name and stores. Not here: detection
//! (`attention_gradient`), schedules, shaders.

use std::collections::BTreeSet;

use fuse_artifact::{Slot, Space};

use super::{
    Group, GroupKind, ScoreProduct, WeightedSum,
    attention_pattern::WeightedSums,
    body::{Body, NeedsStorage, ValueId},
    body_builder::{BodyBuilder, Region},
    index::{IndexMap, strip_reshapes},
    rows::RowSpace,
};
use crate::graph::{Graph, NodeId, Op};

const SPACES: [[Space; 2]; 2] = [[Space::Lhs, Space::Rhs], [Space::SecondLhs, Space::SecondRhs]];

/// Builds the group of some sums, and the values of `outputs` in its body.
///
/// `region` holds the epilogue; `stored` returns slots of readable nodes.
///
/// # Errors
/// If an input must be materialized.
pub fn group(
    graph: &Graph,
    uses_coordinates: &[bool],
    stored: &dyn Fn(NodeId) -> Option<Slot>,
    sums: &WeightedSums,
    region: &BTreeSet<NodeId>,
    outputs: &[NodeId],
) -> Result<(Group, Vec<ValueId>), NeedsStorage> {
    let operands = |node: NodeId| match graph.nodes[node].op {
        Op::Matmul { lhs, rhs } => [lhs, rhs],
        _ => unreachable!("sums and products are matmuls"),
    };
    let shape = graph.nodes[sums.outputs[0]].ty.shape.clone();
    let rank = shape.len();
    let mut builder = BodyBuilder::new(graph, uses_coordinates, stored);
    let (nothing, inside) = (|_: NodeId| false, |node: NodeId| region.contains(&node));
    let rows = RowSpace { shape: shape.clone(), axes: vec![rank - 1] };
    let at_rows = |node: NodeId| rows.place(graph, node);
    let identity = |_: NodeId| IndexMap::identity(rank);
    let of_products = |node: NodeId| match sums.exchanged && sums.products.contains(&node) {
        true => IndexMap::exchanged(rank),
        false => IndexMap::identity(rank),
    };
    let operand = |space, of, exchanged| Region {
        operand_of: Some(of),
        exchanged,
        ..Region::new(space, rank, &nothing, &identity)
    };
    let mut program = |region: &Region<'_>, root: NodeId| -> Result<(Body, ValueId), NeedsStorage> {
        let (body, values) = builder.body(region, &[root])?;
        Ok((body, values[0]))
    };
    let mut products = vec![];
    for (&product, spaces) in sums.products.iter().zip(SPACES) {
        let [a, b] = operands(product);
        // Exchanged axes: the right operand provides the rows.
        let [lhs, rhs] = if sums.exchanged { [b, a] } else { [a, b] };
        products.push(ScoreProduct {
            depth: graph.nodes[a].ty.shape[rank - 1].clone(),
            lhs: program(&operand(spaces[0], product, sums.exchanged), lhs)?,
            rhs: program(&operand(spaces[1], product, sums.exchanged), rhs)?,
        });
    }
    let mut values = vec![];
    for &output in &sums.outputs {
        values.push(program(&operand(Space::Value, output, false), operands(output)[1])?);
    }
    let scores = Region { sums: &sums.products, ..Region::new(Space::Score, rank, &nothing, &of_products) };
    let roots: Vec<NodeId> = sums.outputs.iter().map(|&output| operands(output)[0]).collect();
    let weights = builder.body(&scores, &roots)?;
    let epilogue = Region { sums: &sums.outputs, ..Region::new(Space::Point, rank, &inside, &at_rows) };
    let (body, found) = builder.body(&epilogue, outputs)?;
    let (accesses, fixed) = builder.finish();
    let keys = graph.nodes[roots[0]].ty.shape[rank - 1].clone();
    let nodes = computed_nodes(graph, region, stored);
    let kind = WeightedSum { outputs: sums.outputs.clone(), keys, products, weights, values };
    let kind = GroupKind::WeightedSum(Box::new(kind));
    Ok((Group { name: String::new(), kind, shape, nodes, accesses, fixed, body, stores: vec![] }, found))
}

fn computed_nodes(graph: &Graph, region: &BTreeSet<NodeId>, stored: &dyn Fn(NodeId) -> Option<Slot>) -> Vec<NodeId> {
    let mut found = region.clone();
    let mut pending: Vec<NodeId> = region.iter().flat_map(|&node| graph.nodes[node].op.operands()).collect();
    while let Some(node) = pending.pop() {
        let op = &graph.nodes[node].op;
        let leaf = matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Input(_));
        if leaf || stored(strip_reshapes(graph, node)).is_some() || !found.insert(node) {
            continue;
        }
        pending.extend(op.operands());
    }
    found.into_iter().collect()
}
