//! Gradients: reverse-mode differentiation (Griewank and Walther, Evaluating Derivatives, 2008), as more operations of the same
//! graph.
//!
//! Input: a graph that is being lowered, a value of it, and the values with respect to which it is differentiated. Output: a
//! node for each of these, appended to the graph, so that every later stage sees ordinary operations and a gradient can be
//! differentiated again. Or the obstacle, which names the node that stops it.
//!
//! `rules` has what each operation does to the adjoint of its result, `attention` what several do together; `adjoint` sums what a value
//! gets; `tape` writes nodes, `join` values behind each other.
//! `again` copies what `checkpoint` stands around. `pullback` divides a function and its gradients into two that run one after the
//! other, `part` makes a graph of some of a graph's values.

mod adjoint;
mod attention;
mod checkpoint;
mod join;
mod movement;
mod product;
pub mod pullback;
mod rules;
mod subgraph;
mod tape;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use fuse_artifact::Size;

use crate::{
    graph::{Graph, Node, NodeId, Op, ReduceOp},
    span::Span,
};
use adjoint::{Adjoint, Contribution};
pub use join::{Joined, joined};
pub use subgraph::{Part, part};
use tape::Tape;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The values that are differentiated, at least one; the gradient is that of their sum.
    pub of: &'a [Seed],
    /// Floats with respect to which.
    pub wrt: &'a [NodeId],
    /// Where the gradient was written.
    pub span: Span,
}

/// A value that is differentiated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// The value: of rank 0, or of the shape of `cotangent`.
    pub value: NodeId,
    /// What its elements count for; 1 if there is none.
    pub cotangent: Option<NodeId>,
}

/// What the front end knows of nodes and the graph does not say.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Values that are constants to every gradient: `stop_gradient(x)`, and largest elements that are taken off only against overflow.
    pub stopped: BTreeSet<NodeId>,
    /// `Take`s whose index is known to move elements in this way.
    pub moved: BTreeMap<NodeId, Movement>,
    /// Values that are others behind each other.
    pub joined: BTreeMap<NodeId, Joined>,
    /// Lengths of vectors, with the vectors: no rule looks at how they are computed.
    pub norms: BTreeMap<NodeId, NodeId>,
    /// Indices of the nodes that `checkpoint` stands around: gradients compute them again.
    pub checkpoints: Vec<Range<usize>>,
}

/// Movement of elements along the axis of a `Take` by a known rule, which gradients invert.
#[derive(Clone, Debug, PartialEq)]
pub enum Movement {
    /// The index is `±coordinate + number`. Where it leaves the operand, a `select` takes something else.
    Shift,
    /// The index is `coordinate - shift`, plus the extent where that is negative; the shift is from 0 to the extent.
    Roll,
    /// The index is `coordinate / times`, inside the operand.
    Repeat(Size),
    /// The index is `coordinate % extent`, and the result has `times` extents.
    Tile(Size),
    /// The index is `i * extent of axis + 1 + j`, of two axes that the adjoint of `Repeat` or `Tile` makes of one; the operand
    /// is repeated along `axis + 1`.
    Split,
}

/// Why there is no gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// The value does not depend on this one of `wrt` at all.
    Unused(usize),
    /// It depends on this one of `wrt` only through a node that has no derivative.
    Stopped {
        /// Which of `wrt`.
        wrt: usize,
        /// The node.
        by: NodeId,
    },
}

/// The gradients of `request.of`, one per value of `request.wrt`, of its dtype and shape. `marks` is what is known of some nodes, also
/// of copies of these afterwards.
///
/// # Errors
/// The first obstacle; nodes may have been added then.
pub fn gradients(graph: &mut Graph, marks: &mut Marks, request: Request<'_>) -> Result<Vec<NodeId>, Obstacle> {
    let Request { of, wrt, span } = request;
    let ids: Vec<NodeId> = graph.nodes.handles().take(end(of)).collect();
    let reaches = reaching(graph, of, marks, differentiable);
    for (position, &id) in wrt.iter().enumerate() {
        match reaches.get(id.index()) {
            None => return Err(Obstacle::Unused(position)),
            Some(false) => return Err(why_not(graph, of, (position, id), marks)),
            Some(true) => {}
        }
    }
    let on_path = on_path(graph, of, wrt, marks);
    let mut attentions = attention::Attentions::find(graph, ids.len(), wrt, marks, &on_path);
    let mut again = checkpoint::Again::of(marks);
    graph.gradients.push(span);
    let mut tape = Tape { graph, span };
    let mut adjoints: Vec<Adjoint> = ids.iter().map(|_| Adjoint::default()).collect();
    for &Seed { value, cotangent } in of {
        let own = cotangent.unwrap_or_else(|| tape.number(1.0, value));
        adjoints[value.index()].add(&mut tape, Contribution::Whole(own));
    }
    for &id in ids.iter().rev().filter(|id| on_path[id.index()]) {
        let Some(adjoint) = adjoints[id.index()].total((&mut tape, marks), id) else { continue };
        if let Some(copies) = again.visit(&mut tape, id, marks) {
            attentions.follow(copies);
        }
        let wanted = |operand: NodeId| on_path[again.original(operand).index()];
        let parts = rules::contributions((&mut tape, &mut attentions), again.copy(id), adjoint, marks, &wanted);
        for (operand, part) in parts {
            adjoints[again.original(operand).index()].add(&mut tape, part);
        }
    }
    marks.moved.extend(attentions.moved().map(|node| (node, Movement::Shift)));
    let of_wrt = |&id: &NodeId| {
        let adjoint = adjoints[id.index()].total((&mut tape, marks), id);
        adjoint.unwrap_or_else(|| tape.number(0.0, id))
    };
    Ok(wrt.iter().map(of_wrt).collect())
}

/// One more than the index of the last value that is differentiated.
fn end(of: &[Seed]) -> usize {
    of.iter().map(|seed| seed.value.index() + 1).max().unwrap_or(0)
}

/// For each node up to the last of `of`, whether a path leads from it to one of them, along the operands that `passes` gives of nodes.
fn reaching(graph: &Graph, of: &[Seed], marks: &Marks, passes: impl Fn(&Graph, &Node) -> Vec<NodeId>) -> Vec<bool> {
    let count = end(of);
    let mut reaches = vec![false; count];
    of.iter().for_each(|seed| reaches[seed.value.index()] = true);
    for (id, node) in graph.nodes.iter().take(count).rev() {
        if reaches[id.index()] && !marks.stopped.contains(&id) {
            passes(graph, node).into_iter().for_each(|operand| reaches[operand.index()] = true);
        }
    }
    reaches
}

/// For each node, whether it is on a path from one of `wrt` along which a derivative may differ from 0. What a product with a
/// derivative of 0 would be does not matter: it may be infinite.
fn on_path(graph: &Graph, of: &[Seed], wrt: &[NodeId], marks: &Marks) -> Vec<bool> {
    let mut on_path = reaching(graph, of, marks, sloped);
    let mut depends = vec![false; on_path.len()];
    wrt.iter().for_each(|id| depends[id.index()] = true);
    for (id, node) in graph.nodes.iter().take(on_path.len()) {
        if !marks.stopped.contains(&id) {
            depends[id.index()] |= sloped(graph, node).iter().any(|operand| depends[operand.index()]);
        }
    }
    on_path.iter_mut().zip(depends).for_each(|(on_path, depends)| *on_path &= depends);
    on_path
}

/// The obstacle between `of` and a value that no differentiable path connects.
fn why_not(graph: &Graph, of: &[Seed], (position, from): (usize, NodeId), marks: &Marks) -> Obstacle {
    let count = end(of);
    let mut needed = vec![false; count];
    of.iter().for_each(|seed| needed[seed.value.index()] = true);
    for (id, node) in graph.nodes.iter().take(count).rev() {
        if needed[id.index()] {
            node.op.operands().iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
    // The first node that needs what depends on the value, and passes nothing on.
    let mut depends = vec![false; count];
    for (id, node) in graph.nodes.iter().take(count) {
        let passed = differentiable(graph, node).iter().any(|operand| depends[operand.index()]);
        let used = node.op.operands().iter().any(|operand| depends[operand.index()]);
        if used && needed[id.index()] && (!passed || marks.stopped.contains(&id)) {
            return Obstacle::Stopped { wrt: position, by: id };
        }
        depends[id.index()] = id == from || passed;
    }
    Obstacle::Unused(position)
}

/// The operands whose elements the node's elements follow smoothly, almost everywhere: none of integers and truth values.
fn differentiable(graph: &Graph, node: &Node) -> Vec<NodeId> {
    let is_float = |id: NodeId| graph.nodes[id].ty.dtype.is_float();
    let operands = match &node.op {
        Op::Input(_) | Op::Dequantize(_) | Op::Scalar(_) | Op::Literal(_) | Op::Size(_) | Op::Index { .. } => vec![],
        Op::Compare(..) => vec![],
        Op::Unary(_, x)
        | Op::Cast(x)
        | Op::Permute { x, .. }
        | Op::Reshape(x)
        | Op::Slice { x, .. }
        | Op::Take { x, .. }
        | Op::Broadcast(x) => vec![*x],
        Op::Binary(_, x, y) | Op::Matmul { lhs: x, rhs: y } => vec![*x, *y],
        Op::Select { condition: _, on_true, on_false } => vec![*on_true, *on_false],
        Op::Reduce { op, x, .. } => match op {
            ReduceOp::Sum | ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min => vec![*x],
            ReduceOp::ArgMax | ReduceOp::ArgMin | ReduceOp::Any | ReduceOp::All => vec![],
        },
    };
    if node.ty.dtype.is_float() { operands.into_iter().filter(|operand| is_float(*operand)).collect() } else { vec![] }
}

/// The operands of which the derivative is not simply 0 almost everywhere.
fn sloped(graph: &Graph, node: &Node) -> Vec<NodeId> {
    match node.op {
        Op::Unary(op, _) if rules::is_flat(op) => vec![],
        _ => differentiable(graph, node),
    }
}
