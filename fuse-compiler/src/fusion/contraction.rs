//! Contraction groups: a matrix product with the pointwise operations around it.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Slot, Space};

use super::{
    Contraction, Cut, Group, GroupKind, Planner,
    body::{self, BodyBuilder, NeedsStorage},
    index::{IndexMap, strip_reshapes},
    legality::{contraction_dependencies, is_pointwise},
};
use crate::graph::{NodeId, Op, TensorType};

/// A matrix product and its epilogue.
pub(super) struct Region {
    /// The product.
    pub(super) matmul: NodeId,
    /// The product and the operations that follow it in the same kernel.
    pub(super) nodes: BTreeSet<NodeId>,
}

/// The regions of all live contractions, in order.
pub(super) fn regions(planner: &Planner<'_>) -> Vec<Region> {
    let graph = planner.graph;
    let dependencies = contraction_dependencies(graph);
    let mut growth = Growth { planner, dependencies: &dependencies, taken: BTreeMap::new(), reads: BTreeMap::new() };
    let matmuls = planner.live.iter().copied().filter(|&id| matches!(graph.nodes[id].op, Op::Matmul { .. }));
    matmuls.map(|matmul| Region { matmul, nodes: growth.region(matmul) }).collect()
}

struct Growth<'a, 'g> {
    planner: &'a Planner<'g>,
    dependencies: &'a [BTreeSet<NodeId>],
    /// The contraction that each absorbed node belongs to.
    taken: BTreeMap<NodeId, NodeId>,
    /// For each contraction, the contractions whose values its group reads (transitively through nodes).
    reads: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Growth<'_, '_> {
    fn region(&mut self, matmul: NodeId) -> BTreeSet<NodeId> {
        let graph = self.planner.graph;
        let mut nodes = BTreeSet::from([matmul]);
        let own = self.dependencies[matmul.index()].iter().copied().filter(|&m| m != matmul).collect();
        self.reads.insert(matmul, own);
        self.taken.insert(matmul, matmul);
        for &candidate in self.planner.live.range(matmul..) {
            if self.extends(&nodes, matmul, candidate) {
                let outside = self.outside_reads(&nodes, candidate);
                self.reads.entry(matmul).or_default().extend(outside);
                nodes.insert(candidate);
                self.taken.insert(candidate, matmul);
            }
        }
        debug_assert!(nodes.iter().all(|&n| graph.nodes[n].ty.shape == graph.nodes[matmul].ty.shape));
        nodes
    }

    /// Whether `candidate` can be computed in the epilogue of `matmul`, which holds `nodes` so far.
    fn extends(&self, nodes: &BTreeSet<NodeId>, matmul: NodeId, candidate: NodeId) -> bool {
        let graph = self.planner.graph;
        let node = &graph.nodes[candidate];
        let operands = node.op.operands();
        if !is_pointwise(&node.op)
            || self.taken.contains_key(&candidate)
            || node.ty.shape != graph.nodes[matmul].ty.shape
            || !operands.iter().any(|x| nodes.contains(x))
            || operands.iter().any(|x| nodes.contains(x) && self.planner.forced.contains(x))
        {
            return false;
        }
        // What it reads from outside must be complete before this kernel starts.
        let outside = self.outside_reads(nodes, candidate);
        !outside.contains(&matmul) && outside.iter().all(|&other| !self.reaches(other, matmul))
    }

    /// The contractions that the operands of `candidate` outside `nodes` depend on.
    fn outside_reads(&self, nodes: &BTreeSet<NodeId>, candidate: NodeId) -> BTreeSet<NodeId> {
        let operands = self.planner.graph.nodes[candidate].op.operands();
        let outside = operands.into_iter().filter(|x| !nodes.contains(x));
        outside.flat_map(|x| self.dependencies[x.index()].iter().copied()).collect()
    }

    /// Whether the group of `from` reads, through any number of groups, what the group of `to` computes.
    fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let mut seen = BTreeSet::new();
        let mut pending = vec![from];
        while let Some(group) = pending.pop() {
            if group == to {
                return true;
            }
            if seen.insert(group) {
                pending.extend(self.reads.get(&group).into_iter().flatten().copied());
                pending.extend(self.dependencies[group.index()].iter().copied().filter(|&m| m != group));
            }
        }
        false
    }
}

/// Builds the group of a contraction.
pub(super) fn group(
    planner: &Planner<'_>,
    cut: &Cut,
    matmul: NodeId,
    slots: &BTreeMap<NodeId, Vec<Slot>>,
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Result<Group, NeedsStorage> {
    let graph = planner.graph;
    let Op::Matmul { lhs, rhs } = graph.nodes[matmul].op else { unreachable!("a region starts at its matmul") };
    let shape = graph.nodes[matmul].ty.shape.clone();
    let rank = shape.len();
    let mut builder = BodyBuilder::new(graph, &planner.uses_coordinates, stored);
    let (inside, place) = (|node: NodeId| cut.region.contains(&node), |_: &TensorType| IndexMap::identity(rank));
    let point =
        body::Region { space: Space::Point, rank, inside: &inside, place: &place, sums: &[matmul], operand_of: None };
    let operand = |space| body::Region { space, inside: &|_| false, sums: &[], operand_of: Some(matmul), ..point };
    let (lhs_body, lhs_values) = builder.body(&operand(Space::Lhs), &[lhs])?;
    let (rhs_body, rhs_values) = builder.body(&operand(Space::Rhs), &[rhs])?;
    let (body, values) = builder.body(&point, &cut.outputs)?;
    let (accesses, fixed) = builder.finish();
    let depth = graph.nodes[lhs].ty.shape[rank - 1].clone();
    let mut nodes = prologue_nodes(planner, &[lhs, rhs], stored);
    nodes.extend(&cut.region);
    Ok(Group {
        name: String::new(),
        kind: GroupKind::Contraction(Box::new(Contraction {
            matmuls: vec![matmul],
            depth,
            lhs: (lhs_body, lhs_values[0]),
            rhs: vec![(rhs_body, rhs_values[0])],
        })),
        shape,
        nodes,
        accesses,
        fixed,
        stores: Planner::stores(&cut.outputs, &values, slots),
        body,
    })
}

/// The nodes that a kernel computes on its way from memory to `roots`.
pub(super) fn prologue_nodes(
    planner: &Planner<'_>,
    roots: &[NodeId],
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Vec<NodeId> {
    let mut found = BTreeSet::new();
    let mut pending = roots.to_vec();
    while let Some(node) = pending.pop() {
        let op = &planner.graph.nodes[node].op;
        let leaf = matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Input(_));
        if leaf || stored(strip_reshapes(planner.graph, node)).is_some() || !found.insert(node) {
            continue;
        }
        pending.extend(op.operands());
    }
    found.into_iter().collect()
}
