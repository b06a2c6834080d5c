//! Attention groups: `matmul(softmax(f(matmul(q, transpose(k)))), v)` for any pointwise `f`.
//!
//! Input: a graph. Output: the [`Pattern`]s in it, and for each its [`Group`], which computes the scores, their softmax
//! and the weighted sum of the values without storing any of the scores.
//!
//! Not here: which patterns become groups (the planner decides), schedules and text.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::{Check, Relation, Size, Slot, Space};

use super::{
    Attention, Group, GroupKind,
    body::{BodyBuilder, NeedsStorage, Region, ValueId},
    index::{IndexMap, strip_reshapes},
    legality::is_pointwise,
    rows::RowSpace,
};
use crate::{
    graph::{Graph, NodeId, Op, ReduceOp, TensorType},
    operations::{BinaryOp, UnaryOp},
};

/// The largest depth and number of value columns that a kernel keeps in registers and workgroup memory.
pub const MAX_HEAD: u64 = 256;

/// An attention in a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// The `matmul` of probabilities and values.
    pub output: NodeId,
    /// The `matmul` of queries and keys.
    pub product: NodeId,
    /// What the softmax is taken of.
    pub scores: NodeId,
    /// The nodes from the product to the probabilities, and the output. But for the output they are used by nothing else,
    /// so that they need not exist in memory.
    pub nodes: BTreeSet<NodeId>,
}

impl Pattern {
    /// The depth of the scores' products, and the number of value columns.
    pub fn head(&self, graph: &Graph) -> [Size; 2] {
        let last = |node: NodeId| graph.nodes[node].ty.shape.last().cloned().unwrap_or(Size::ONE);
        let Op::Matmul { lhs, .. } = graph.nodes[self.product].op else { unreachable!("a pattern's product") };
        [last(lhs), last(self.output)]
    }

    /// The sizes that must be at most [`MAX_HEAD`] but are known only at launch.
    fn unbounded(&self, graph: &Graph) -> Vec<Size> {
        let [depth, columns] = self.head(graph);
        let mut sizes = vec![depth, columns];
        sizes.dedup();
        sizes.retain(|size| size.as_constant().is_none());
        sizes
    }
}

/// The attentions among the live nodes of a graph, in order of their outputs. `assumes`: whether a plan may assume that
/// sizes known only at launch fit a kernel ([`assumptions`]).
pub fn recognize(graph: &Graph, live: &BTreeSet<NodeId>, assumes: bool) -> Vec<Pattern> {
    let mut users: Vec<Vec<NodeId>> = vec![vec![]; graph.nodes.len()];
    for &node in live {
        for operand in graph.nodes[node].op.operands() {
            users[operand.index()].push(node);
        }
    }
    let context = Context { graph, users };
    let patterns = live.iter().filter_map(|&output| context.pattern(output));
    patterns.filter(|pattern| assumes || pattern.unbounded(graph).is_empty()).collect()
}

/// What the kernel of a pattern takes for granted.
pub fn assumptions(graph: &Graph, pattern: &Pattern) -> Vec<Check> {
    let check = |size: Size| Check {
        relation: Relation::AtMost,
        left: size,
        right: Size::constant(MAX_HEAD),
        what: format!("head size of an attention in `{}` that one workgroup can hold", graph.name).into(),
    };
    pattern.unbounded(graph).into_iter().map(check).collect()
}

/// What `node` is the softmax of along the last axis, if it is one.
pub fn scores(graph: &Graph, node: NodeId) -> Option<NodeId> {
    Context { graph, users: vec![] }.softmax(node).map(|softmax| softmax.scores)
}

struct Context<'a> {
    graph: &'a Graph,
    users: Vec<Vec<NodeId>>,
}

/// A softmax over the last axis: what it is taken of, and the nodes that compute it.
struct Softmax {
    scores: NodeId,
    nodes: Vec<NodeId>,
}

impl Context<'_> {
    fn op(&self, node: NodeId) -> &Op {
        &self.graph.nodes[node].op
    }

    fn ty(&self, node: NodeId) -> &TensorType {
        &self.graph.nodes[node].ty
    }

    fn pattern(&self, output: NodeId) -> Option<Pattern> {
        let Op::Matmul { lhs, rhs } = *self.op(output) else { return None };
        let softmax = self.softmax(lhs)?;
        let batch = self.ty(output).rank() - 2;
        if self.ty(lhs).shape[..batch] != self.ty(output).shape[..batch] {
            return None;
        }
        let mut products = vec![];
        self.products(softmax.scores, &mut BTreeSet::new(), &mut products);
        products.into_iter().find_map(|product| {
            let mut nodes: BTreeSet<NodeId> = softmax.nodes.iter().copied().collect();
            self.path(softmax.scores, product, &mut nodes);
            let inner = nodes.clone();
            nodes.insert(output);
            let pattern = Pattern { output, product, scores: softmax.scores, nodes };
            let fits = |size: &Size| size.as_constant().is_none_or(|size| size <= MAX_HEAD);
            let legal = !inner.contains(&rhs)
                && pattern.head(self.graph).iter().all(fits)
                && inner.iter().all(|&node| self.is_inner(node, &pattern));
            legal.then_some(pattern)
        })
    }

    /// Whether nothing but the pattern needs the value of `node`.
    fn is_inner(&self, node: NodeId, pattern: &Pattern) -> bool {
        let users = &self.users[node.index()];
        !self.graph.results.contains(&node) && users.iter().all(|user| pattern.nodes.contains(user))
    }

    /// `e / sum(e)` with `e = exp(x - max(x))` along the last axis, possibly converted to another float dtype.
    fn softmax(&self, root: NodeId) -> Option<Softmax> {
        let mut nodes = vec![root];
        let mut quotient = root;
        while let Op::Cast(x) = *self.op(quotient) {
            if !self.ty(x).dtype.is_float() || !self.ty(quotient).dtype.is_float() {
                return None;
            }
            quotient = x;
            nodes.push(x);
        }
        let Op::Binary(BinaryOp::Div, exponential, total) = *self.op(quotient) else { return None };
        let Op::Unary(UnaryOp::Exp, difference) = *self.op(exponential) else { return None };
        let Op::Binary(BinaryOp::Sub, scores, largest) = *self.op(difference) else { return None };
        nodes.extend([exponential, difference]);
        let summed = self.along_rows(ReduceOp::Sum, total, &mut nodes)?;
        let compared = self.along_rows(ReduceOp::Max, largest, &mut nodes)?;
        (summed == exponential && compared == scores).then_some(Softmax { scores, nodes })
    }

    /// The operand of a reduction over the last axis that is broadcast back along it.
    fn along_rows(&self, wanted: ReduceOp, root: NodeId, nodes: &mut Vec<NodeId>) -> Option<NodeId> {
        let mut node = root;
        nodes.push(node);
        while let Op::Broadcast(x) | Op::Reshape(x) = *self.op(node) {
            node = x;
            nodes.push(node);
        }
        let Op::Reduce { op, x, ref axes } = *self.op(node) else { return None };
        let rank = self.ty(x).rank();
        // What was broadcast must be the row's own value: one shape, but for the last axis.
        let kept = &self.ty(x).shape[..rank - 1];
        let same_rows = self.ty(root).rank() == rank && self.ty(root).shape[..rank - 1] == *kept;
        let keeps_rows = nodes.iter().all(|&n| !matches!(self.op(n), Op::Reshape(_)) || self.keeps_rows(n, kept));
        (op == wanted && *axes == [rank - 1] && same_rows && keeps_rows).then_some(x)
    }

    /// Whether a reshape adds or removes nothing but a last axis of extent 1.
    fn keeps_rows(&self, node: NodeId, kept: &[Size]) -> bool {
        let rows = |shape: &[Size]| match shape.split_last() {
            Some((last, rows)) if last.is_one() && rows.len() == kept.len() => rows == kept,
            _ => shape == kept,
        };
        let Op::Reshape(x) = *self.op(node) else { return true };
        rows(&self.ty(node).shape) && rows(&self.ty(x).shape)
    }

    /// The products of the scores' shape that the scores follow from by pointwise operations alone.
    fn products(&self, node: NodeId, seen: &mut BTreeSet<NodeId>, found: &mut Vec<NodeId>) {
        if !seen.insert(node) {
            return;
        }
        match self.op(node) {
            Op::Matmul { .. } if self.ty(node).dtype.is_float() => found.push(node),
            op if is_pointwise(op) => op.operands().into_iter().for_each(|x| self.products(x, seen, found)),
            _ => {}
        }
    }

    /// Adds the nodes between `product` and `node`, both included, if there are any.
    fn path(&self, node: NodeId, product: NodeId, nodes: &mut BTreeSet<NodeId>) {
        let mut leads: BTreeMap<NodeId, bool> = BTreeMap::from([(product, true)]);
        self.leads_to(node, &mut leads);
        nodes.extend(leads.into_iter().filter(|(_, leads)| *leads).map(|(node, _)| node));
    }

    /// Whether `node` follows from one that is known to lead to the product.
    fn leads_to(&self, node: NodeId, known: &mut BTreeMap<NodeId, bool>) -> bool {
        if let Some(&leads) = known.get(&node) {
            return leads;
        }
        let operands = if is_pointwise(self.op(node)) { self.op(node).operands() } else { vec![] };
        // Every operand is looked at: all paths belong to the pattern, not only the first.
        let each: Vec<bool> = operands.into_iter().map(|x| self.leads_to(x, known)).collect();
        let leads = each.contains(&true);
        known.insert(node, leads);
        leads
    }
}

/// Builds the group of a pattern, without its name and stores, and the values of `outputs` in its body.
///
/// `region` holds the nodes of the epilogue, the pattern's output among them; `outputs` are those of them to be stored.
/// `stored` says where nodes are that the kernel may read.
///
/// # Errors
/// When an operand or something that the scores or the epilogue read would have to be in memory.
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
    let output = [pattern.output];
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

/// The nodes that the kernel computes on its way from memory to its output, in order.
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
