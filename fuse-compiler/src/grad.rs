//! Gradients: reverse-mode differentiation (Griewank and Walther, Evaluating Derivatives, 2008), appended to the same
//! graph.
//!
//! Input: a graph during lowering, a value, and the values to differentiate with respect to. Output: a gradient node
//! for each, or the obstacle with its node. Gradients are ordinary operations, so they can be differentiated again.
//!
//! - `rules`: adjoints of single operations; `attention`: of several together.
//! - `adjoint`: sums the contributions to a value.
//! - `tape`: appends nodes; `join`: concatenates values.
//! - `checkpoint`: copies the nodes inside of a `checkpoint`.
//! - `pullback`: splits a function and its gradients into a forward and a backward graph.
//! - `subgraph`: extracts some values of a graph into a separate graph.

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

/// Arguments.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Differentiated values, at least one: the gradient is that of their sum.
    pub of: &'a [Seed],
    /// Float values to differentiate with respect to.
    pub wrt: &'a [NodeId],
    /// Span of the gradient.
    pub span: Span,
}

/// Differentiated value and weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// Rank 0, or the shape of `cotangent`.
    pub value: NodeId,
    /// Weight per element; 1 if absent.
    pub cotangent: Option<NodeId>,
}

/// Facts about nodes that only the front end knows.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Constants: `stop_gradient(x)`, and maxima that only prevent overflow.
    pub stopped: BTreeSet<NodeId>,
    /// `Take`s that only move elements.
    pub moved: BTreeMap<NodeId, Movement>,
    /// Concatenated values.
    pub joined: BTreeMap<NodeId, Joined>,
    /// Norms with their vectors; rules ignore how they are computed.
    pub norms: BTreeMap<NodeId, NodeId>,
    /// Nodes inside each `checkpoint`, which gradients recompute.
    pub checkpoints: Vec<Range<usize>>,
}

/// Movement of elements by a `Take`, which gradients invert.
#[derive(Clone, Debug, PartialEq)]
pub enum Movement {
    /// Index `±coordinate + number`; a `select` discards elements out of bounds.
    Shift,
    /// Index `coordinate - shift`, plus the extent if negative; `0 ≤ shift ≤ extent`.
    Roll,
    /// Index `coordinate / times`.
    Repeat(Size),
    /// Index `coordinate % extent`; the result has `times` extents.
    Tile(Size),
    /// Index `i * extent of axis + 1 + j`: the adjoint of `Repeat` or `Tile` splits one axis into two, with the operand
    /// broadcast along `axis + 1`.
    Split,
}

/// Reason for a missing gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// The value does not depend on this element of `wrt`.
    Unused(usize),
    /// All dependencies on this element of `wrt` pass a node without derivative.
    Stopped {
        /// Index in `wrt`.
        wrt: usize,
        /// Node without derivative.
        by: NodeId,
    },
}

/// Appends the gradients of `request.of` for each value of `request.wrt`, with its dtype and shape.
///
/// Marks copied nodes.
///
/// # Errors
/// The first obstacle; nodes may have been added.
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

fn end(of: &[Seed]) -> usize {
    of.iter().map(|seed| seed.value.index() + 1).max().unwrap_or(0)
}

/// Nodes with a path to one of `of` along operands from `passes`.
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

/// Nodes on a path from `wrt`. Factors of a zero derivative are skipped, since they may be infinite.
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

fn why_not(graph: &Graph, of: &[Seed], (position, from): (usize, NodeId), marks: &Marks) -> Obstacle {
    let count = end(of);
    let mut needed = vec![false; count];
    of.iter().for_each(|seed| needed[seed.value.index()] = true);
    for (id, node) in graph.nodes.iter().take(count).rev() {
        if needed[id.index()] {
            node.op.operands().iter().for_each(|operand| needed[operand.index()] = true);
        }
    }
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

/// Operands whose derivative is not 0 almost everywhere.
fn sloped(graph: &Graph, node: &Node) -> Vec<NodeId> {
    match node.op {
        Op::Unary(op, _) if rules::is_flat(op) => vec![],
        _ => differentiable(graph, node),
    }
}
