//! Unrolls short reductions: `sum(d * d, axis = 2)` of `d: f32[N, N, 3]` becomes `d₀·d₀ + d₁·d₁ + d₂·d₂`.
//!
//! Input: a graph. Output: an equal graph with fewer kernels, or the graph itself. A reduction starts a kernel: forces
//! of N bodies would store `[N, N, 3]` numbers. Unrolled, the sum joins the kernel around it. `Candidate::find` is
//! legality; `Candidate::pays` is an estimate that a plan must confirm.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Size, Slot};

use super::{
    Group, GroupKind, Groups, Policy, fuse,
    heuristics::{is_repeated, operation_cost},
    legality, live_nodes,
};
use crate::{
    arena::Arena,
    graph::{Graph, Node, NodeId, Op, ReduceOp, TensorType},
    operations::BinaryOp,
};

/// A spatial vector, a few classes or experts.
const MAX_ELEMENTS: u64 = 8;

/// For a value that its users recompute, in simple operations. A store and a load cost 40 (`cost`).
const MAX_WORK: u32 = 64;

/// Unrolls reductions that then need no kernel.
///
/// # Errors
/// As [`fuse`].
pub fn unroll(mut graph: Graph) -> Result<Graph, String> {
    if !live_nodes(&graph).into_iter().any(|node| is_short(&graph, node)) {
        return Ok(graph);
    }
    let mut plans = plans(&graph)?;
    while let Some((better, its_plans)) = with_fewer_kernels(&graph, &plans)? {
        (graph, plans) = (better, its_plans);
    }
    Ok(graph)
}

fn plans(graph: &Graph) -> Result<[Groups; 2], String> {
    Ok([fuse(graph, Policy::FUSED)?, fuse(graph, Policy::INLINED)?])
}

/// The graph with one kernel's reductions unrolled, if that saves a kernel.
fn with_fewer_kernels(graph: &Graph, plans: &[Groups; 2]) -> Result<Option<(Graph, [Groups; 2])>, String> {
    let kernels = |plans: &[Groups; 2]| plans.each_ref().map(|plan| plan.groups.len());
    for group in &plans[0].groups {
        let candidate = Candidate::find(graph, group).filter(|candidate| candidate.pays(&plans[0]));
        let Some(candidate) = candidate else { continue };
        let written = rewritten(graph, &candidate.reductions);
        let its_plans = self::plans(&written)?;
        let pairs = kernels(&its_plans).into_iter().zip(kernels(plans));
        let (no_more, fewer) =
            (pairs.clone().all(|(now, before)| now <= before), kernels(&its_plans) != kernels(plans));
        if no_more && fewer {
            return Ok(Some((written, its_plans)));
        }
    }
    Ok(None)
}

struct Candidate<'a> {
    graph: &'a Graph,
    group: &'a Group,
    reductions: BTreeSet<NodeId>,
}

impl<'a> Candidate<'a> {
    /// Requires coordinates known at compile time.
    fn find(graph: &'a Graph, group: &'a Group) -> Option<Self> {
        let GroupKind::Reduction(_) = group.kind else { return None };
        let nodes = group.nodes.iter().copied();
        let reductions: BTreeSet<NodeId> =
            nodes.filter(|&node| matches!(graph.nodes[node].op, Op::Reduce { .. })).collect();
        // An axis broadcast at launch may lack element 1.
        let uncertain = group.nodes.iter().any(|&node| may_repeat(graph, node));
        let short = reductions.iter().all(|&node| is_short(graph, node));
        let compared = legality::compared_extremes(graph, &live_nodes(graph));
        let compared = compared.iter().any(|[_, reduction, _]| reductions.contains(reduction));
        (short && !uncertain && !compared).then_some(Self { graph, group, reductions })
    }

    fn pays(&self, plan: &Groups) -> bool {
        let stores = &self.group.stores;
        let between = stores.iter().all(|store| matches!(store.slot, Slot::Temporary(_)));
        let roots: Vec<NodeId> = stores.iter().map(|store| store.node).collect();
        if !between || self.work(&roots) > MAX_WORK {
            return false;
        }
        let slots: BTreeSet<Slot> = stores.iter().map(|store| store.slot).collect();
        let reads = |group: &&Group| group.accesses.iter().any(|access| slots.contains(&access.access.slot));
        self.reductions.iter().all(|&reduction| {
            let Op::Reduce { x, .. } = self.graph.nodes[reduction].op else { return false };
            is_repeated(self.graph, x)
                || plan.groups.iter().filter(reads).all(|group| self.reads_once(group, reduction))
        })
    }

    fn reads_once(&self, reader: &Group, reduction: NodeId) -> bool {
        let elements = Size::product(&reader.shape);
        let x = self.graph.nodes[reduction].op.operands()[0];
        let as_large = [x, reduction].iter().any(|&node| self.graph.nodes[node].ty.elements() == elements);
        as_large && matches!(reader.kind, GroupKind::Pointwise | GroupKind::Reduction(_))
    }

    fn work(&self, roots: &[NodeId]) -> u32 {
        let (mut seen, mut pending, mut sum) = (BTreeSet::new(), roots.to_vec(), 0u32);
        while let Some(node) = pending.pop() {
            if !self.group.nodes.contains(&node) || !seen.insert(node) {
                continue;
            }
            let op = &self.graph.nodes[node].op;
            sum = sum.saturating_add(match op {
                Op::Reduce { x, axes, .. } => {
                    let count = elements(self.graph, *x, axes).unwrap_or(u64::MAX).min(u32::MAX.into()) as u32;
                    count.saturating_mul(self.work(&[*x]).saturating_add(1))
                }
                op => {
                    pending.extend(op.operands());
                    operation_cost(op)
                }
            });
        }
        sum
    }
}

fn is_short(graph: &Graph, node: NodeId) -> bool {
    match graph.nodes[node].op {
        Op::Reduce { op, x, ref axes } => {
            let few = elements(graph, x, axes).is_some_and(|count| (1..=MAX_ELEMENTS).contains(&count));
            few && step(op).is_some()
        }
        _ => false,
    }
}

fn elements(graph: &Graph, x: NodeId, axes: &[usize]) -> Option<u64> {
    Size::product(axes.iter().map(|&axis| &graph.nodes[x].ty.shape[axis])).as_constant()
}

fn may_repeat(graph: &Graph, node: NodeId) -> bool {
    let Op::Broadcast(x) = graph.nodes[node].op else { return false };
    let mut axes = graph.nodes[x].ty.shape.iter().zip(&graph.nodes[node].ty.shape);
    axes.any(|(from, to)| from != to && !from.is_one())
}

/// Binary operation; `argmax` and `argmin` have none.
fn step(op: ReduceOp) -> Option<BinaryOp> {
    match op {
        ReduceOp::Sum => Some(BinaryOp::Add),
        ReduceOp::Prod => Some(BinaryOp::Mul),
        ReduceOp::Max => Some(BinaryOp::Max),
        ReduceOp::Min => Some(BinaryOp::Min),
        ReduceOp::Any => Some(BinaryOp::Or),
        ReduceOp::All => Some(BinaryOp::And),
        ReduceOp::ArgMax | ReduceOp::ArgMin => None,
    }
}

fn rewritten(graph: &Graph, reductions: &BTreeSet<NodeId>) -> Graph {
    let mut nodes: Arena<Node> = Arena::default();
    let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
    for (id, node) in graph.nodes.iter() {
        let mut node = node.clone();
        node.op.operands_mut().into_iter().for_each(|x| *x = moved[x]);
        let id_now = match node.op {
            Op::Reduce { op, x, ref axes } if reductions.contains(&id) => chain(&mut nodes, &node, (op, x), axes),
            _ => nodes.push(node),
        };
        moved.insert(id, id_now);
    }
    let results = graph.results.iter().map(|id| moved[id]).collect();
    Graph { nodes, results, ..graph.clone() }
}

fn chain(nodes: &mut Arena<Node>, reduction: &Node, (op, x): (ReduceOp, NodeId), axes: &[usize]) -> NodeId {
    let step = step(op).expect("an index is not written out");
    let mut elements = vec![x];
    for &axis in axes {
        let extent = nodes[x].ty.shape[axis].as_constant().expect("axes that are written out are literal");
        elements = elements
            .iter()
            .flat_map(|&x| (0..extent).map(move |at| (x, at)))
            .map(|(x, at)| {
                let mut shape = nodes[x].ty.shape.clone();
                shape[axis] = Size::ONE;
                let ty = TensorType { dtype: nodes[x].ty.dtype, shape };
                let op = Op::Slice { x, axis, start: Size::constant(at) };
                nodes.push(Node { op, ty, span: reduction.span })
            })
            .collect();
    }
    let together = |x: NodeId, y: NodeId| {
        nodes.push(Node { op: Op::Binary(step, x, y), ty: reduction.ty.clone(), span: reduction.span })
    };
    elements.into_iter().reduce(together).expect("a reduction that is written out has elements")
}
