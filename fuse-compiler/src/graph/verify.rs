//! Invariants of a [`Graph`], checked after lowering and after each stage that changes it:
//!
//! 1. Operands precede their users; handles name nodes of the graph.
//! 2. There is at least one result. The last ones have the types of the updated parameters: tensors, each named once.
//! 3. Parameters have at most 6 axes: a host scalar 0, a padded parameter 6. `Op::Input`, `Op::Dequantize` (of a
//!    quantized one) and `Op::Scalar` have the type of their parameter.
//! 4. Sizes mention only symbols of the graph; a symbol's source only axes of tensor parameters, or earlier symbols.
//! 5. A literal has rank 0 and fits its dtype.
//! 6. Operands of a pointwise operation have the node's exact shape, and dtypes that it takes.
//! 7. `Index` has dtype `i32` and an axis of its own shape.
//! 8. Operands of `Matmul` have the node's rank, at least 2; `M`, `N` and dtype are the node's; `K`s are equal, or a
//!    check requires it; batch axes repeat as in `Broadcast`.
//! 9. `Permute` lists every axis once and permutes the shape accordingly.
//! 10. `Reshape` keeps the number of elements, or a check requires it.
//! 11. `Slice` changes one extent only.
//! 12. `Reduce` has sorted axes, not all literally 1, and the operand's shape with 1 there; `any` and `all` take
//!     `bool`, others numbers; `argmax` and `argmin` have one axis and dtype `i32`.
//! 13. `Take` changes one extent only, to that of its index, which is `i32` and of the node's shape.
//! 14. `Size` is a number of rank 0.
//! 15. `Broadcast` keeps the rank (except from 0), and repeats only axes that are 1, or whose broadcast with the node's
//!     extent is a symbol of the graph.

use std::collections::BTreeSet;

use fuse_artifact::{DType, Relation, Size, SymbolSource};

use super::{CompareOp, Graph, Literal, Node, NodeId, Op, Param, ReduceOp};

pub(crate) const MAX_RANK: usize = 6;

/// Violated invariants; empty for a sound graph.
pub fn verify(graph: &Graph) -> Vec<String> {
    let mut violations = Vec::new();
    verify_symbols(graph, &mut violations);
    verify_params(graph, &mut violations);
    for (id, node) in graph.nodes.iter() {
        if let Err(reason) = verify_node(graph, id, node) {
            violations.push(format!("{id} = {}: {reason}", node.op.name()));
        }
    }
    if graph.results.is_empty() {
        violations.push("there is no result".into());
    }
    for result in &graph.results {
        if !graph.nodes.contains(*result) {
            violations.push(format!("result {result} is not a node"));
        }
    }
    verify_updates(graph, &mut violations);
    violations
}

fn verify_updates(graph: &Graph, violations: &mut Vec<String>) {
    let updated: BTreeSet<u16> = graph.updates.iter().copied().collect();
    if updated.len() < graph.updates.len() || graph.updates.len() > graph.results.len() {
        violations.push("the updated parameters are not the last results".into());
        return;
    }
    for (result, node) in graph.results.iter().enumerate().filter(|(_, node)| graph.nodes.contains(**node)) {
        let Some(index) = graph.updated_by(result) else { continue };
        let param = graph.params.get(usize::from(index));
        let fits = |param: &Param| !param.scalar && param.quantized.is_none() && param.ty == graph.nodes[*node].ty;
        if !param.is_some_and(fits) {
            violations.push(format!("parameter {index} cannot take {node}"));
        }
    }
}

fn verify_symbols(graph: &Graph, violations: &mut Vec<String>) {
    for (index, symbol) in graph.symbols.iter().enumerate() {
        let sound = match &symbol.source {
            SymbolSource::Axis { param, axis } => graph
                .params
                .get(usize::from(*param))
                // A quantized parameter has two more numbers than axes.
                .is_some_and(|param| {
                    !param.scalar && usize::from(*axis) < param.ty.rank() + 2 * usize::from(param.quantized.is_some())
                }),
            SymbolSource::Scalar { param } => {
                graph.params.get(usize::from(*param)).is_some_and(|param| param.scalar && param.ty.dtype == DType::U32)
            }
            SymbolSource::Broadcast(sizes) => sizes.iter().all(|size| mentions_below(size, index)),
            SymbolSource::Quotient { dividend, divisor } => {
                mentions_below(dividend, index) && mentions_below(divisor, index)
            }
        };
        if !sound {
            violations.push(format!("symbol `{}` has an impossible source", symbol.name));
        }
    }
    for check in &graph.checks {
        if !mentions_below(&check.left, graph.symbols.len()) || !mentions_below(&check.right, graph.symbols.len()) {
            violations.push(format!("the check of {} mentions an unknown symbol", check.what));
        }
    }
}

fn mentions_below(size: &Size, count: usize) -> bool {
    size.terms.iter().flat_map(|term| term.symbols.iter()).all(|symbol| usize::from(*symbol) < count)
}

fn verify_params(graph: &Graph, violations: &mut Vec<String>) {
    for param in &graph.params {
        let rank = param.ty.rank();
        if rank > MAX_RANK || param.scalar && rank != 0 || param.padded && rank != MAX_RANK {
            violations.push(format!("parameter `{}` has rank {rank}", param.name));
        }
    }
}

type Check = Result<(), String>;

fn ensure(holds: bool, reason: &str) -> Check {
    if holds { Ok(()) } else { Err(reason.into()) }
}

fn verify_node(graph: &Graph, id: NodeId, node: &Node) -> Check {
    ensure(node.op.operands().iter().all(|operand| *operand < id), "an operand comes after its user")?;
    let symbols = graph.symbols.len();
    ensure(node.ty.shape.iter().all(|size| mentions_below(size, symbols)), "its shape mentions an unknown symbol")?;
    match &node.op {
        Op::Input(index) => verify_param_node(graph, node, *index, false),
        Op::Dequantize(index) => verify_quantized(graph, node, *index),
        Op::Scalar(index) => verify_param_node(graph, node, *index, true),
        Op::Literal(literal) => verify_literal(node, literal),
        Op::Unary(op, x) => {
            same_shape(graph, node, &[*x])?;
            let operand = dtype(graph, *x);
            ensure(op.result(operand) == node.ty.dtype, "the dtype is not the operation's")?;
            ensure(op.takes(operand), "the operation does not take this dtype")
        }
        Op::Binary(op, x, y) => {
            same_shape(graph, node, &[*x, *y])?;
            let own = node.ty.dtype;
            ensure(dtype(graph, *x) == own && dtype(graph, *y) == own, "operand of another dtype")?;
            ensure(op.takes(own), "the operation does not take this dtype")
        }
        Op::Compare(op, x, y) => {
            same_shape(graph, node, &[*x, *y])?;
            ensure(node.ty.dtype == DType::Bool, "a comparison is not bool")?;
            let operand = dtype(graph, *x);
            ensure(operand == dtype(graph, *y), "operands of different dtypes")?;
            let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
            ensure(operand != DType::Bool || !ordered, "the operation does not take this dtype")
        }
        Op::Select { condition, on_true, on_false } => {
            same_shape(graph, node, &[*condition, *on_true, *on_false])?;
            let own = node.ty.dtype;
            ensure(dtype(graph, *condition) == DType::Bool, "the condition is not bool")?;
            ensure(dtype(graph, *on_true) == own && dtype(graph, *on_false) == own, "operand of another dtype")
        }
        Op::Cast(x) => same_shape(graph, node, &[*x]),
        Op::Index { axis } => {
            ensure(node.ty.dtype == DType::I32, "an index is not i32")?;
            ensure(*axis < node.ty.rank(), "the axis does not exist")
        }
        Op::Matmul { lhs, rhs } => verify_matmul(graph, node, *lhs, *rhs),
        Op::Permute { x, permutation } => verify_permute(graph, node, *x, permutation),
        Op::Reshape(x) => {
            ensure(dtype(graph, *x) == node.ty.dtype, "operand of another dtype")?;
            let (have, want) = (graph.nodes[*x].ty.elements(), node.ty.elements());
            ensure(have == want || is_implied(graph, &have, &want), "the number of elements changes")
        }
        Op::Slice { x, axis, start } => verify_slice(graph, node, *x, *axis, start),
        Op::Broadcast(x) => verify_broadcast(graph, node, *x),
        Op::Size(size) => {
            ensure(mentions_below(size, symbols), "it mentions an unknown symbol")?;
            let number = matches!(node.ty.dtype, DType::F32 | DType::I32 | DType::U32);
            ensure(node.ty.rank() == 0 && number, "a size is not a number of rank 0")
        }
        Op::Reduce { op, x, axes } => verify_reduce(graph, node, *op, *x, axes),
        Op::Take { x, axis, index } => verify_take(graph, node, *x, *axis, *index),
    }
}

fn verify_reduce(graph: &Graph, node: &Node, op: ReduceOp, x: NodeId, axes: &[usize]) -> Check {
    let (from, operand) = (shape(graph, x), dtype(graph, x));
    ensure(!axes.is_empty() && axes.is_sorted_by(|a, b| a < b), "axes are not sorted or missing")?;
    ensure(axes.iter().all(|&axis| axis < from.len()), "an axis does not exist")?;
    ensure(axes.iter().any(|&axis| !from[axis].is_one()), "every reduced axis has extent 1")?;
    let kept = from.iter().enumerate().map(|(d, size)| if axes.contains(&d) { Size::ONE } else { size.clone() });
    ensure(kept.eq(node.ty.shape.iter().cloned()), "the shape is not the operand's with extent 1 at the axes")?;
    let index = op.yields_index();
    ensure(node.ty.dtype == if index { DType::I32 } else { operand }, "the dtype is not the operand's")?;
    ensure(!index || axes.len() == 1, "an index along several axes")?;
    let logical = matches!(op, ReduceOp::Any | ReduceOp::All);
    ensure(logical == (operand == DType::Bool), "the operation does not take this dtype")
}

fn verify_take(graph: &Graph, node: &Node, x: NodeId, axis: usize, index: NodeId) -> Check {
    let (from, own) = (shape(graph, x), &node.ty.shape);
    ensure(dtype(graph, x) == node.ty.dtype, "operand of another dtype")?;
    ensure(
        dtype(graph, index) == DType::I32 && shape(graph, index) == own,
        "the index is not i32 of the node's shape",
    )?;
    let others = from.iter().zip(own).enumerate().all(|(d, (a, b))| d == axis || a == b);
    ensure(from.len() == own.len() && axis < own.len() && others, "the operand has another shape beside the axis")
}

fn shape(graph: &Graph, id: NodeId) -> &[Size] {
    &graph.nodes[id].ty.shape
}

fn dtype(graph: &Graph, id: NodeId) -> DType {
    graph.nodes[id].ty.dtype
}

fn same_shape(graph: &Graph, node: &Node, operands: &[NodeId]) -> Check {
    let same = operands.iter().all(|operand| shape(graph, *operand) == node.ty.shape);
    ensure(same, "an operand has another shape")
}

fn verify_param_node(graph: &Graph, node: &Node, index: u16, scalar: bool) -> Check {
    match graph.params.get(usize::from(index)) {
        Some(param) => ensure(param.scalar == scalar && param.ty == node.ty, "its type is not the parameter's"),
        None => Err("the parameter does not exist".into()),
    }
}

fn verify_quantized(graph: &Graph, node: &Node, index: u16) -> Check {
    verify_param_node(graph, node, index, false)?;
    let quantized = graph.params[usize::from(index)].quantized.as_ref();
    ensure(quantized.is_some_and(|quantized| quantized.axis < node.ty.rank()), "the parameter is not quantized")
}

fn verify_literal(node: &Node, literal: &Literal) -> Check {
    ensure(node.ty.rank() == 0, "a literal has axes")?;
    let fits = match (literal, node.ty.dtype) {
        (Literal::Float(_), dtype) => dtype.is_float(),
        (Literal::Integer(value), DType::I32) => i32::try_from(*value).is_ok(),
        (Literal::Integer(value), DType::U32) => u32::try_from(*value).is_ok(),
        (Literal::Integer(_), _) => false,
        (Literal::Bool(_), dtype) => dtype == DType::Bool,
    };
    ensure(fits, "the literal does not fit its dtype")
}

fn verify_matmul(graph: &Graph, node: &Node, lhs: NodeId, rhs: NodeId) -> Check {
    let (left, right, own) = (shape(graph, lhs), shape(graph, rhs), &node.ty.shape);
    let rank = own.len();
    ensure(rank >= 2 && left.len() == rank && right.len() == rank, "operands of another rank")?;
    let dtype = node.ty.dtype;
    ensure(self::dtype(graph, lhs) == dtype && self::dtype(graph, rhs) == dtype, "operand of another dtype")?;
    ensure(dtype != DType::Bool, "the operation does not take this dtype")?;
    ensure(left[rank - 2] == own[rank - 2] && right[rank - 1] == own[rank - 1], "M or N differs")?;
    let (k, j) = (&left[rank - 1], &right[rank - 2]);
    ensure(k == j || is_checked(graph, k, j), "K differs")?;
    let repeats = |operand: &[Size]| (0..rank - 2).all(|axis| may_repeat(graph, &operand[axis], &own[axis]));
    ensure(repeats(left) && repeats(right), "a batch axis does not broadcast")
}

fn verify_permute(graph: &Graph, node: &Node, x: NodeId, permutation: &[usize]) -> Check {
    ensure(dtype(graph, x) == node.ty.dtype, "operand of another dtype")?;
    let operand = shape(graph, x);
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    ensure(sorted.iter().copied().eq(0..operand.len()), "not a permutation of the axes")?;
    let permuted = permutation.iter().map(|&axis| &operand[axis]);
    ensure(permuted.eq(node.ty.shape.iter()), "the shape is not permuted accordingly")
}

fn verify_slice(graph: &Graph, node: &Node, x: NodeId, axis: usize, start: &Size) -> Check {
    ensure(dtype(graph, x) == node.ty.dtype, "operand of another dtype")?;
    ensure(mentions_below(start, graph.symbols.len()), "its start mentions an unknown symbol")?;
    let operand = shape(graph, x);
    ensure(axis < operand.len() && operand.len() == node.ty.rank(), "the axis does not exist")?;
    let others = (0..operand.len()).all(|other| other == axis || operand[other] == node.ty.shape[other]);
    ensure(others, "another axis changes")
}

fn verify_broadcast(graph: &Graph, node: &Node, x: NodeId) -> Check {
    ensure(dtype(graph, x) == node.ty.dtype, "operand of another dtype")?;
    let operand = shape(graph, x);
    if operand.is_empty() {
        return Ok(());
    }
    ensure(operand.len() == node.ty.rank(), "the rank changes")?;
    let repeats = operand.iter().zip(&node.ty.shape).all(|(have, want)| may_repeat(graph, have, want));
    ensure(repeats, "an axis that is not 1 is repeated")
}

/// True if an axis of extent `have` may be read as `want`.
///
/// In the expression form a symbol is the broadcast of both. Its equality to `want` is its definition, a check, or an
/// assumption.
fn may_repeat(graph: &Graph, have: &Size, want: &Size) -> bool {
    let source = |size: &Size| Some(&graph.symbols.get(usize::from(size.as_symbol()?))?.source);
    let parts = |size: &Size| match source(size) {
        Some(SymbolSource::Broadcast(sizes)) => sizes.to_vec(),
        _ => vec![size.clone()],
    };
    let both: Vec<Size> = parts(have).into_iter().chain(parts(want)).collect();
    let broadcasts = |source: &SymbolSource| match source {
        SymbolSource::Broadcast(sizes) => both.iter().all(|part| sizes.contains(part)),
        SymbolSource::Axis { .. } | SymbolSource::Scalar { .. } | SymbolSource::Quotient { .. } => false,
    };
    have == want
        || have.is_one()
        || is_checked(graph, have, want)
        || graph.symbols.iter().any(|symbol| broadcasts(&symbol.source))
}

fn is_checked(graph: &Graph, a: &Size, b: &Size) -> bool {
    let equal = |x: &Size, y: &Size| (x == a && y == b) || (x == b && y == a);
    graph.checks.iter().any(|check| check.relation == Relation::Equal && equal(&check.left, &check.right))
}

/// True if a launch check implies equality: it replaces a factor of `a` to give `b`.
fn is_implied(graph: &Graph, a: &Size, b: &Size) -> bool {
    if is_checked(graph, a, b) {
        return true;
    }
    graph.checks.iter().filter(|check| check.relation == Relation::Equal).any(|check| {
        let (left, right) = (&check.left, &check.right);
        a.mul(right) == b.mul(left) || a.mul(left) == b.mul(right)
    })
}

#[cfg(test)]
mod tests {
    use fuse_artifact::Symbol;

    use super::*;
    use crate::operations::UnaryOp;
    use crate::{arena::Arena, graph::Param, graph::TensorType, span::Span};

    /// `fn f(x: f32[M]) -> f32[M] { exp(x) }`, with a changed node.
    fn graph(change: impl FnOnce(&mut Node)) -> Graph {
        let ty = TensorType::new(DType::F32, vec![Size::symbol(0)]);
        let mut nodes = Arena::default();
        let x = nodes.push(Node { op: Op::Input(0), ty: ty.clone(), span: Span(0) });
        let mut node = Node { op: Op::Unary(UnaryOp::Exp, x), ty: ty.clone(), span: Span(0) };
        change(&mut node);
        let result = nodes.push(node);
        Graph {
            name: "f".into(),
            params: vec![Param { name: "x".into(), ty, scalar: false, padded: false, quantized: None }],
            symbols: vec![Symbol { name: "M".into(), source: SymbolSource::Axis { param: 0, axis: 0 } }],
            checks: vec![],
            nodes,
            results: vec![result],
            updates: vec![],
            gradients: vec![],
            statements: vec![],
            options: Default::default(),
        }
    }

    #[test]
    fn a_sound_graph_has_no_violations() {
        assert_eq!(verify(&graph(|_| ())), Vec::<String>::new());
    }

    #[test]
    fn only_what_broadcasts_is_repeated() {
        let mut graph = graph(|node| {
            node.op = Op::Broadcast(node.op.operands()[0]);
            node.ty.shape = vec![Size::constant(3)];
        });
        assert_eq!(verify(&graph).len(), 1);
        let source = SymbolSource::Broadcast(vec![Size::symbol(0), Size::constant(3)].into());
        graph.symbols.push(Symbol { name: "M|3".into(), source });
        assert_eq!(verify(&graph), Vec::<String>::new());
    }

    fn reduce(node: &mut Node, op: ReduceOp, axes: &[usize]) {
        node.op = Op::Reduce { op, x: node.op.operands()[0], axes: axes.to_vec() };
        node.ty.shape = vec![Size::ONE];
    }

    #[test]
    fn reductions_yield_what_they_take_or_positions() {
        assert_eq!(verify(&graph(|node| reduce(node, ReduceOp::Sum, &[0]))), Vec::<String>::new());
        let position = |node: &mut Node| {
            reduce(node, ReduceOp::ArgMax, &[0]);
            node.ty.dtype = DType::I32;
        };
        assert_eq!(verify(&graph(position)), Vec::<String>::new());
        type Damage = fn(&mut Node);
        let cases: [(Damage, &str); 7] = [
            (|node| reduce(node, ReduceOp::Sum, &[]), "axes are not sorted or missing"),
            (|node| reduce(node, ReduceOp::Sum, &[0, 0]), "axes are not sorted or missing"),
            (|node| reduce(node, ReduceOp::Sum, &[1]), "an axis does not exist"),
            (|node| reduce(node, ReduceOp::Any, &[0]), "the operation does not take this dtype"),
            (|node| reduce(node, ReduceOp::ArgMin, &[0]), "the dtype is not the operand's"),
            (
                |node| {
                    reduce(node, ReduceOp::Max, &[0]);
                    node.ty.dtype = DType::I32;
                },
                "the dtype is not the operand's",
            ),
            (
                |node| {
                    reduce(node, ReduceOp::Max, &[0]);
                    node.ty.shape = vec![];
                },
                "the shape is not the operand's with extent 1 at the axes",
            ),
        ];
        for (change, reason) in cases {
            let violations = verify(&graph(change));
            assert!(violations.len() == 1 && violations[0].ends_with(reason), "{violations:?}, expected {reason}");
        }
    }

    #[test]
    fn coordinates_are_i32_of_the_result_s_shape() {
        let take = |axis: usize, index: fn(&mut Node), own: Vec<Size>| {
            let mut graph = graph(|node| {
                node.op = Op::Index { axis: 0 };
                node.ty = TensorType::new(DType::I32, vec![Size::constant(5)]);
                index(node);
            });
            let (x, index) = (graph.nodes.handles().next().expect("the input"), graph.results[0]);
            let ty = TensorType::new(DType::F32, own);
            graph.results = vec![graph.nodes.push(Node { op: Op::Take { x, axis, index }, ty, span: Span(0) })];
            verify(&graph)
        };
        let five = || vec![Size::constant(5)];
        assert_eq!(take(0, |_| (), five()), Vec::<String>::new());
        assert_eq!(take(1, |_| (), five()).len(), 1);
        assert_eq!(take(0, |_| (), vec![Size::constant(4)]).len(), 1);
        let float = |node: &mut Node| {
            node.op = Op::Literal(Literal::Float(0.0));
            node.ty = TensorType::new(DType::F32, vec![]);
        };
        assert_eq!(take(0, float, vec![]).len(), 1);
    }

    #[test]
    fn sizes_are_numbers_of_known_symbols() {
        let size = |dtype: DType, size: Size, shape: Vec<Size>| {
            verify(&graph(move |node| {
                node.op = Op::Size(size);
                node.ty = TensorType::new(dtype, shape);
            }))
        };
        assert_eq!(size(DType::I32, Size::symbol(0), vec![]), Vec::<String>::new());
        assert_eq!(size(DType::Bool, Size::symbol(0), vec![]).len(), 1);
        assert_eq!(size(DType::F32, Size::symbol(0), vec![Size::ONE]).len(), 1);
        assert_eq!(size(DType::F32, Size::symbol(7), vec![]).len(), 1);
    }

    #[test]
    fn violations_are_found() {
        let cases: [fn(&mut Node); 6] = [
            |node| node.ty.dtype = DType::I32,
            |node| node.ty.shape = vec![Size::constant(3)],
            |node| node.ty.shape = vec![Size::symbol(7)],
            |node| node.op = Op::Reshape(node.op.operands()[0]).clone(),
            |node| node.op = Op::Index { axis: 1 },
            |node| node.op = Op::Permute { x: node.op.operands()[0], permutation: vec![1] },
        ];
        for (index, change) in cases.into_iter().enumerate() {
            let graph = graph(|node| {
                change(node);
                if index == 3 {
                    node.ty.shape = vec![Size::constant(3)];
                }
            });
            assert_eq!(verify(&graph).len(), 1, "case {index}");
        }
        let mut empty = graph(|_| ());
        empty.results.clear();
        assert_eq!(verify(&empty), ["there is no result"]);
    }
}
