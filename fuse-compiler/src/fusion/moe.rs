//! Mixtures of experts: `sum(gates · matmul(x, w), axis = 0)` with weights `w: [E, D, N]` and few experts E.
//!
//! Makes each expert a product of its own. The products share their left operand, so kernels add several before a store
//! and never materialize `[E, T, N]`. Their tiles are smaller; the launch compares both graphs.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{DType, Size};

use super::{heuristics::dequantizes, index::strip_reshapes, live_nodes, regions::MAX_SIBLINGS};
use crate::{
    arena::Arena,
    graph::{Graph, Node, NodeId, Op, ReduceOp},
    operations::BinaryOp,
};

const MAX_EXPERTS: u64 = 8;

struct Mixture {
    sum: NodeId,
    axis: usize,
    experts: u64,
    nodes: BTreeSet<NodeId>,
    /// Experts per kernel.
    together: u64,
}

/// Splits mixtures into products of single experts.
pub fn split_experts(graph: &Graph) -> Option<Graph> {
    let mixtures: Vec<Mixture> = live_nodes(graph).into_iter().filter_map(|node| Mixture::find(graph, node)).collect();
    if mixtures.is_empty() {
        return None;
    }
    let mut nodes: Arena<Node> = Arena::default();
    let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (id, node) in graph.nodes.iter() {
        let mut node = node.clone();
        node.op.operands_mut().into_iter().for_each(|x| *x = moved[x]);
        let now = match (mixtures.iter().find(|mixture| mixture.sum == id), &node.op) {
            (Some(mixture), _) => Parting { graph, mixture, nodes: &mut nodes, moved: &moved }.sum(),
            (None, &Op::Reshape(x)) => reshaped(&mut nodes, x, node),
            (None, _) => nodes.push(node),
        };
        moved.insert(id, now);
    }
    let results = graph.results.iter().map(|id| moved[id]).collect();
    Some(Graph { nodes, results, ..graph.clone() })
}

fn reshaped(nodes: &mut Arena<Node>, x: NodeId, node: Node) -> NodeId {
    match nodes[x].op {
        Op::Reshape(source) if nodes[source].ty == node.ty => source,
        _ => nodes.push(node),
    }
}

impl Mixture {
    fn find(graph: &Graph, sum: NodeId) -> Option<Self> {
        let Op::Reduce { op: ReduceOp::Sum, x, ref axes } = graph.nodes[sum].op else { return None };
        let shape = &graph.nodes[x].ty.shape;
        let [axis] = *axes.as_slice() else { return None };
        let experts = shape[axis].as_constant().filter(|experts| (2..=MAX_EXPERTS).contains(experts))?;
        let (mut nodes, mut products, mut pending) = (BTreeSet::new(), 0, vec![x]);
        let mut left = BTreeSet::new();
        while let Some(node) = pending.pop() {
            match graph.nodes[node].op {
                Op::Matmul { lhs, rhs } if axis + 2 < shape.len() => {
                    let extent = |operand: NodeId| &graph.nodes[operand].ty.shape[axis];
                    let shares = extent(lhs).is_one() && *extent(rhs) == shape[axis] && !dequantizes(graph, rhs);
                    if shares && nodes.insert(node) {
                        products += 1;
                        left.insert(strip_reshapes(graph, lhs));
                    }
                }
                ref op if op.is_pointwise() && nodes.insert(node) => pending.extend(op.operands()),
                _ => {}
            }
        }
        let together = (MAX_SIBLINGS / usize::max(products, 1)) as u64;
        let others = live_nodes(graph).into_iter().filter(|user| *user != sum && !nodes.contains(user));
        let others = others.flat_map(|user| graph.nodes[user].op.operands());
        let alone = others.chain(graph.results.iter().copied()).all(|used| !nodes.contains(&used));
        // Memory between kernels would round `f16` partial sums once more.
        let exact = together >= experts || graph.nodes[x].ty.dtype != DType::F16;
        let found = Self { sum, axis, experts, nodes, together };
        (left.len() == 1 && together > 0 && exact && alone).then_some(found)
    }
}

struct Parting<'a> {
    graph: &'a Graph,
    mixture: &'a Mixture,
    nodes: &'a mut Arena<Node>,
    moved: &'a BTreeMap<NodeId, NodeId>,
}

impl Parting<'_> {
    fn sum(&mut self) -> NodeId {
        let Mixture { sum, experts, together, .. } = *self.mixture;
        let mut left = None;
        let firsts = (0..experts).step_by(together as usize);
        let sums: Vec<NodeId> = firsts
            .map(|first| {
                let kernel = first..experts.min(first + together);
                let values: Vec<NodeId> = kernel.map(|expert| self.expert(expert, &mut left)).collect();
                self.added(values)
            })
            .collect();
        let value = self.added(sums);
        let Node { ty, span, .. } = self.graph.nodes[sum].clone();
        self.nodes.push(Node { op: Op::Reshape(value), ty, span })
    }

    fn added(&mut self, values: Vec<NodeId>) -> NodeId {
        let add = |x: NodeId, y: NodeId| {
            let Node { ty, span, .. } = self.nodes[x].clone();
            self.nodes.push(Node { op: Op::Binary(BinaryOp::Add, x, y), ty, span })
        };
        values.into_iter().reduce(add).expect("a mixture has experts")
    }

    /// Summand of one expert, without its axis. `left` caches the shared left operand.
    fn expert(&mut self, expert: u64, left: &mut Option<NodeId>) -> NodeId {
        let mut own: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let mixture = self.mixture;
        for &id in &mixture.nodes {
            let mut node = self.graph.nodes[id].clone();
            match &mut node.op {
                Op::Matmul { lhs, rhs } => {
                    *lhs = *left.get_or_insert_with(|| self.slice(*lhs, 0));
                    *rhs = self.slice(*rhs, expert);
                }
                op => {
                    for x in op.operands_mut() {
                        *x = own.get(x).copied().unwrap_or_else(|| self.slice(*x, expert));
                    }
                }
            }
            node.ty.shape.remove(mixture.axis);
            own.insert(id, self.nodes.push(node));
        }
        let Op::Reduce { x, .. } = self.graph.nodes[mixture.sum].op else { unreachable!("a mixture is a sum") };
        own[&x]
    }

    fn slice(&mut self, x: NodeId, expert: u64) -> NodeId {
        let Node { mut ty, span, .. } = self.graph.nodes[x].clone();
        let (axis, mut value) = (self.mixture.axis, self.moved[&x]);
        if !ty.shape[axis].is_one() {
            ty.shape[axis] = Size::ONE;
            let op = Op::Slice { x: value, axis, start: Size::constant(expert) };
            value = self.nodes.push(Node { op, ty: ty.clone(), span });
        }
        ty.shape.remove(axis);
        reshaped(self.nodes, value, Node { op: Op::Reshape(value), ty, span })
    }
}
