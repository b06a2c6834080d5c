//! Attention groups: `matmul(softmax(f(matmul(q, transpose(k)))), v)` for any pointwise `f`.
//!
//! Input: a graph. Output: its [`Pattern`]s with their [`Group`]s, which never store scores. Not here: choice of
//! patterns (planner), schedules, shaders.

use std::collections::BTreeSet;

use fuse_artifact::{Check, Relation, Size, Slot, Space};

use super::{
    Attention, Group, GroupKind, attention_gradient,
    attention_pattern::{Gradient, MAX_HEAD, Pattern, Read},
    body::{Body, NeedsStorage, ValueId, ValueOp},
    body_builder::{BodyBuilder, Region},
    index::{IndexMap, strip_reshapes},
    rows::RowSpace,
};
use crate::graph::{Graph, NodeId, Op, TensorType, softmax::Softmax};

/// The attentions of a graph.
#[derive(Clone, Debug, Default)]
pub struct Recognized {
    /// Attentions that become kernels, by output.
    pub patterns: Vec<Pattern>,
    /// Reads that prevent other attentions.
    pub read: Vec<Read>,
}

/// Finds attentions among the live nodes, by output.
///
/// `assumes` permits run-time size checks ([`assumptions`]). Gradient sums in `apart` get kernels of their own.
pub fn recognize(graph: &Graph, live: &BTreeSet<NodeId>, assumes: bool, apart: &BTreeSet<NodeId>) -> Recognized {
    let mut users: Vec<Vec<NodeId>> = vec![vec![]; graph.nodes.len()];
    for &node in live {
        for operand in graph.nodes[node].op.operands() {
            users[operand.index()].push(node);
        }
    }
    let context = Context { graph, users, live, apart };
    let mut recognized = Recognized::default();
    for &output in live {
        match context.pattern(output) {
            None => {}
            Some(Ok(pattern)) if assumes || pattern.unbounded(graph).is_empty() => recognized.patterns.push(pattern),
            Some(Ok(_)) => {}
            Some(Err(read)) => recognized.read.push(read),
        }
    }
    recognized
}

/// Launch checks of a pattern's kernel.
pub fn assumptions(graph: &Graph, pattern: &Pattern) -> Vec<Check> {
    let check = |size: Size| Check {
        relation: Relation::AtMost,
        left: size,
        right: Size::constant(MAX_HEAD),
        what: format!("head size of an attention in `{}` that one workgroup can hold", graph.name).into(),
    };
    pattern.unbounded(graph).into_iter().map(check).collect()
}

/// Input of the softmax along the last axis that computes `node`.
pub fn scores(graph: &Graph, node: NodeId) -> Option<NodeId> {
    Softmax::find(graph, node).map(|softmax| softmax.scores)
}

struct Context<'a> {
    graph: &'a Graph,
    users: Vec<Vec<NodeId>>,
    live: &'a BTreeSet<NodeId>,
    apart: &'a BTreeSet<NodeId>,
}

impl Context<'_> {
    fn op(&self, node: NodeId) -> &Op {
        &self.graph.nodes[node].op
    }

    fn ty(&self, node: NodeId) -> &TensorType {
        &self.graph.nodes[node].ty
    }

    fn pattern(&self, output: NodeId) -> Option<Result<Pattern, Read>> {
        let Op::Matmul { lhs, rhs } = *self.op(output) else { return None };
        let softmax = Softmax::find(self.graph, lhs)?;
        let batch = self.ty(output).rank() - 2;
        if self.ty(lhs).shape[..batch] != self.ty(output).shape[..batch] {
            return None;
        }
        let products = softmax.products(self.graph);
        let several = products.len() > 1;
        let mut read = None;
        for product in products {
            let mut nodes: BTreeSet<NodeId> = softmax.nodes.iter().copied().collect();
            self.path(softmax.scores, product, &mut nodes);
            let reads_itself = nodes.contains(&rhs);
            nodes.insert(output);
            let mut pattern = Pattern {
                output,
                product,
                scores: softmax.scores,
                softmax: softmax.nodes.clone(),
                statistics: [softmax.largest, softmax.total],
                nodes,
                gradient: Gradient::default(),
            };
            let fits = |size: &Size| size.as_constant().is_none_or(|size| size <= MAX_HEAD);
            if reads_itself || !pattern.head(self.graph).iter().all(fits) {
                continue;
            }
            if pattern.nodes.iter().all(|&node| node == output || self.is_inner(node, &pattern)) {
                return Some(Ok(pattern));
            }
            match attention_gradient::find(self.graph, &self.users, self.live, &pattern, self.apart) {
                Ok(gradient) if !several => {
                    pattern.gradient = gradient;
                    return Some(Ok(pattern));
                }
                Ok(_) => {}
                Err(outside) => read = read.or(Some(outside)),
            }
        }
        read.map(Err)
    }

    fn is_inner(&self, node: NodeId, pattern: &Pattern) -> bool {
        let users = &self.users[node.index()];
        !self.graph.results.contains(&node) && users.iter().all(|user| pattern.nodes.contains(user))
    }

    fn path(&self, node: NodeId, product: NodeId, nodes: &mut BTreeSet<NodeId>) {
        let (mut found, mut pending) = (BTreeSet::from([product]), vec![node]);
        while let Some(node) = pending.pop() {
            if found.insert(node) && self.op(node).is_pointwise() {
                pending.extend(self.op(node).operands());
            }
        }
        // Operands precede users, so one pass suffices.
        let mut leads = BTreeSet::from([product]);
        for node in found {
            if self.op(node).is_pointwise() && self.op(node).operands().iter().any(|x| leads.contains(x)) {
                leads.insert(node);
            }
        }
        nodes.extend(leads);
    }
}

/// Builds the group of a pattern without name and stores, and the values of `outputs` in its body.
///
/// `region` holds the epilogue; `stored` returns slots of readable nodes.
///
/// # Errors
/// If an input must be materialized.
pub fn group(
    graph: &Graph,
    uses_coordinates: &[bool],
    stored: &dyn Fn(NodeId) -> Option<Slot>,
    pattern: &Pattern,
    region: &BTreeSet<NodeId>,
    outputs: &[NodeId],
) -> Result<(Group, Vec<ValueId>), NeedsStorage> {
    let Op::Matmul { lhs: query, rhs: key } = graph.nodes[pattern.product].op else {
        unreachable!("a pattern's product is a matmul")
    };
    let Op::Matmul { rhs: value, .. } = graph.nodes[pattern.output].op else {
        unreachable!("a pattern's output is a matmul")
    };
    let shape = graph.nodes[pattern.output].ty.shape.clone();
    let rank = shape.len();
    let mut builder = BodyBuilder::new(graph, uses_coordinates, stored);
    let (nothing, inside) = (|_: NodeId| false, |node: NodeId| region.contains(&node));
    let rows = RowSpace { shape: shape.clone(), axes: vec![rank - 1] };
    let place = |node: NodeId| rows.place(graph, node);
    let identity = |_: NodeId| IndexMap::identity(rank);
    let operand = |space, of| Region { operand_of: Some(of), ..Region::new(space, rank, &nothing, &identity) };
    let mut program = |region: &Region<'_>, root: NodeId| -> Result<_, NeedsStorage> {
        let (body, values) = builder.body(region, &[root])?;
        Ok((body, values[0]))
    };
    let query_body = program(&operand(Space::Lhs, pattern.product), query)?;
    let key_body = program(&operand(Space::Rhs, pattern.product), key)?;
    let product = [pattern.product];
    let scores = Region { sums: &product, ..Region::new(Space::Score, rank, &nothing, &identity) };
    let score_body = program(&scores, pattern.scores)?;
    let value_body = program(&operand(Space::Value, pattern.output), value)?;
    let [largest, total] = pattern.statistics;
    let output = [pattern.output, largest, total];
    let epilogue = Region { sums: &output, ..Region::new(Space::Point, rank, &inside, &place) };
    let (body, values) = builder.body(&epilogue, outputs)?;
    let (accesses, fixed) = builder.finish();
    let [depth, _] = pattern.head(graph);
    let keys = graph.nodes[pattern.product].ty.shape[rank - 1].clone();
    let mut nodes = computed_nodes(graph, pattern, &[query, key, value], stored);
    nodes.extend(region.iter().filter(|node| !nodes.contains(node)).copied().collect::<Vec<_>>());
    let attention = Attention {
        output: pattern.output,
        keys,
        depth,
        query: query_body,
        key: key_body,
        score: score_body,
        value: value_body,
    };
    let kind = GroupKind::Attention(Box::new(attention));
    Ok((Group { name: String::new(), kind, shape, nodes, accesses, fixed, body, stores: vec![] }, values))
}

/// True if a value depends on the row statistics.
pub fn is_of_row(body: &Body, value: ValueId) -> bool {
    let (mut seen, mut pending) = (BTreeSet::new(), vec![value]);
    while let Some(value) = pending.pop() {
        let op = &body.values[value].op;
        if matches!(op, ValueOp::Accumulator(1..)) {
            return true;
        }
        if seen.insert(value) {
            pending.extend(Body::operands(op));
        }
    }
    false
}

fn computed_nodes(
    graph: &Graph,
    pattern: &Pattern,
    operands: &[NodeId],
    stored: &dyn Fn(NodeId) -> Option<Slot>,
) -> Vec<NodeId> {
    let mut found = pattern.nodes.clone();
    let mut pending = operands.to_vec();
    for node in &pattern.nodes {
        pending.extend(graph.nodes[*node].op.operands());
    }
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
