//! Row prologues: a product's kernel reduces the rows of its left operand, as in `matmul(rms_norm(x, g), w)`.
//!
//! Input: a reduction without a region. Output: the nodes that the products' kernel claims. Reductions must run along
//! the depth over pointwise functions of materialized values; their dependents have no other use. Each workgroup
//! reduces its own rows. The launch decides profitability (`Policy::row_prologue`).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use fuse_artifact::Size;

use super::{
    Planner,
    index::{AxisMap, IndexMap, strip_reshapes, through_movement},
};
use crate::graph::{Graph, NodeId, Op};

/// Words per row in workgroup memory; the last schedule must fit.
const MAX_WORDS: u32 = 4;

/// Coordinates of a reduction's operand, if the reduction read through `map` runs along the last axis, of extent
/// `depth`.
pub(super) fn row_of(
    graph: &Graph,
    (x, axes): (NodeId, &[usize]),
    map: &IndexMap,
    rank: usize,
    depth: &Size,
) -> Option<IndexMap> {
    let [axis] = *axes else { return None };
    let last = (rank - 1) as u8;
    let mut others = map.axes.iter().enumerate().filter(|(a, _)| *a != axis).map(|(_, map)| map);
    let per_row = others.all(|map| map.axis != Some(last) && map.value.is_none());
    let mut map = map.clone();
    map.axes[axis] = AxisMap::along(last);
    (per_row && graph.nodes[x].ty.shape[axis] == *depth).then_some(map)
}

/// Nodes from `reduction` to the left operand that the products' kernel claims. `siblings` gives products that share a
/// kernel.
pub(super) fn claim(
    planner: &Planner<'_>,
    owner: &BTreeMap<NodeId, usize>,
    reduction: NodeId,
    siblings: impl Fn(NodeId) -> Vec<NodeId>,
) -> Option<BTreeSet<NodeId>> {
    let graph = planner.graph;
    if !planner.policy.row_prologue {
        return None;
    }
    let product = planner.first_products[reduction.index()].filter(|product| !owner.contains_key(product))?;
    let products = siblings(product);
    let Op::Matmul { lhs, .. } = graph.nodes[products[0]].op else { return None };
    let shape = &graph.nodes[lhs].ty.shape;
    let mut survey = Survey {
        planner,
        owner,
        rank: shape.len(),
        depth: &shape[shape.len() - 1],
        seen: HashSet::new(),
        nodes: BTreeSet::new(),
        reductions: BTreeSet::new(),
    };
    let can_write = survey.can_write(lhs);
    let words = |&node: &NodeId| match graph.nodes[node].op {
        Op::Reduce { op, .. } => op.state_words(),
        _ => 0,
    };
    let few = survey.reductions.iter().map(words).sum::<u32>() <= MAX_WORDS;
    if !can_write || !few || !survey.reductions.contains(&reduction) {
        return None;
    }
    followers(planner, owner, &survey, &products)
}

pub(super) fn first_products(graph: &Graph, users: &[BTreeSet<NodeId>]) -> Vec<Option<NodeId>> {
    let mut first = vec![None; graph.nodes.len()];
    for node in graph.nodes.handles().rev() {
        let through = |&user: &NodeId| match graph.nodes[user].op {
            Op::Matmul { .. } => Some(user),
            _ => first[user.index()],
        };
        first[node.index()] = users[node.index()].iter().filter_map(through).min();
    }
    first
}

fn followers(
    planner: &Planner<'_>,
    owner: &BTreeMap<NodeId, usize>,
    survey: &Survey<'_, '_>,
    products: &[NodeId],
) -> Option<BTreeSet<NodeId>> {
    let (mut found, mut pending) = (survey.reductions.clone(), vec![]);
    pending.extend(&survey.reductions);
    while let Some(node) = pending.pop() {
        if planner.is_result(node) || planner.forced.contains(&node) || owner.contains_key(&node) {
            return None;
        }
        for &user in &planner.users[node.index()] {
            match planner.graph.nodes[user].op {
                Op::Matmul { rhs, .. } if products.contains(&user) && rhs != node => {}
                _ if !survey.nodes.contains(&user) => return None,
                _ if found.insert(user) => pending.push(user),
                _ => {}
            }
        }
    }
    Some(found)
}

struct Survey<'a, 'g> {
    planner: &'a Planner<'g>,
    owner: &'a BTreeMap<NodeId, usize>,
    /// Rank of the operand; the last axis is the depth.
    rank: usize,
    depth: &'a Size,
    seen: HashSet<(NodeId, IndexMap)>,
    nodes: BTreeSet<NodeId>,
    reductions: BTreeSet<NodeId>,
}

impl Survey<'_, '_> {
    fn can_write(&mut self, operand: NodeId) -> bool {
        let mut pending = vec![(operand, IndexMap::identity(self.rank))];
        while let Some((node, map)) = pending.pop() {
            let op = &self.planner.graph.nodes[node].op;
            let constant = matches!(op, Op::Literal(_) | Op::Scalar(_) | Op::Size(_) | Op::Index { .. });
            if constant || self.in_memory(node) || !self.seen.insert((node, map.clone())) {
                continue;
            }
            self.nodes.insert(node);
            match self.read_by(node, &map) {
                Some(read) => pending.extend(read),
                None => return false,
            }
        }
        true
    }

    fn read_by(&mut self, node: NodeId, map: &IndexMap) -> Option<Vec<(NodeId, IndexMap)>> {
        let graph = self.planner.graph;
        match &graph.nodes[node].op {
            op if op.is_movement() => {
                let uses_coordinates = |x: NodeId| self.planner.uses_coordinates[x.index()] && !self.in_memory(x);
                through_movement(graph, uses_coordinates, node, map).ok()?.map(|read| vec![read])
            }
            Op::Take { x, axis, index } => {
                let mut taken = map.clone();
                taken.axes[*axis] = AxisMap::computed(0);
                Some(vec![(*index, map.clone()), (*x, taken)])
            }
            Op::Reduce { x, axes, .. } => {
                self.reductions.insert(node);
                let cheap = self.planner.costs[x.index()] <= self.planner.policy.prologue;
                let row = row_of(graph, (*x, axes), map, self.rank, self.depth);
                row.filter(|_| cheap).map(|row| vec![(*x, row)])
            }
            op if op.is_pointwise() => Some(op.operands().into_iter().map(|x| (x, map.clone())).collect()),
            _ => None,
        }
    }

    /// True if `node` or its source is loaded; other products complete first.
    fn in_memory(&self, node: NodeId) -> bool {
        let source = strip_reshapes(self.planner.graph, node);
        let stored = self.planner.forced.contains(&source) || self.owner.contains_key(&source);
        stored || matches!(self.planner.graph.nodes[source].op, Op::Input(_) | Op::Matmul { .. })
    }
}
