//! Assumptions of the expression form: broadcasts do not enlarge products or reduced rows.
//!
//! Extents are unknown at compile time, so `matmul(x, w) + b` might repeat the product along `b`: the consumer then is
//! no epilogue. Likewise `softmax(x) * y` might repeat rows, and batch axes of `v` the scores of an attention. The
//! function compiles twice: under the assumption, checked at launch, and for all other shapes.

use std::{borrow::Cow, collections::BTreeMap};

use fuse_artifact::{Check, Relation, Size, SymbolId, SymbolSource, Term};

use crate::{
    arena::Arena,
    graph::{Graph, Node, NodeId, Op},
};

/// Assumes that broadcasts enlarge no product and no value of reduced rows.
///
/// Returns the rewritten graph and its checks; `None` if there is nothing to assume.
pub fn products_keep_their_shape(graph: &Graph) -> Option<(Graph, Vec<Check>)> {
    let replaced = enlarged_extents(graph);
    if replaced.is_empty() {
        return None;
    }
    let checks = replaced.iter().map(|(&symbol, size)| Check {
        relation: Relation::Equal,
        left: Size::symbol(symbol),
        right: size.clone(),
        what: Cow::Borrowed("extent of a product or reduction that a broadcast might enlarge"),
    });
    Some((rewrite(graph, &replaced), checks.collect()))
}

/// Extents that a broadcast may enlarge, with the extent before. Reduced axes have extent 1 and do not count.
fn enlarged_extents(graph: &Graph) -> BTreeMap<SymbolId, Size> {
    let mut replaced: BTreeMap<SymbolId, Size> = BTreeMap::new();
    let mut from_product = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter() {
        let inherits = node.op.operands().iter().any(|x| from_product[x.index()]);
        let pointwise = node.op.is_pointwise() || matches!(node.op, Op::Broadcast(_));
        let starts = matches!(node.op, Op::Matmul { .. } | Op::Reduce { .. });
        from_product[id.index()] = starts || (inherits && pointwise);
        let (x, axes) = match node.op {
            Op::Broadcast(x) if from_product[x.index()] => (x, node.ty.rank()),
            Op::Matmul { lhs, .. } => match super::attention::scores(graph, lhs) {
                Some(scores) if from_product[scores.index()] => (lhs, node.ty.rank() - 2),
                _ => continue,
            },
            _ => continue,
        };
        for (from, to) in graph.nodes[x].ty.shape.iter().zip(&node.ty.shape).take(axes) {
            let (from, to) = (substitute(from, &replaced), substitute(to, &replaced));
            let Some(symbol) = to.as_symbol() else { continue };
            let enlarges = matches!(graph.symbols[usize::from(symbol)].source, SymbolSource::Broadcast(_));
            if enlarges && from != to && !from.is_one() {
                replaced.values_mut().for_each(|size| *size = substitute_one(size, symbol, &from));
                replaced.insert(symbol, from);
            }
        }
    }
    replaced
}

fn substitute(size: &Size, replaced: &BTreeMap<SymbolId, Size>) -> Size {
    replaced.iter().fold(size.clone(), |size, (&symbol, by)| substitute_one(&size, symbol, by))
}

fn substitute_one(size: &Size, symbol: SymbolId, by: &Size) -> Size {
    let mut sum = Size::default();
    for term in size.terms.iter() {
        let (hits, rest): (Vec<SymbolId>, Vec<SymbolId>) = term.symbols.iter().partition(|&&s| s == symbol);
        let rest = Size { terms: Cow::Owned(vec![Term { symbols: Cow::Owned(rest), coefficient: term.coefficient }]) };
        sum = sum.add(&hits.iter().fold(rest, |product, _| product.mul(by)));
    }
    sum
}

fn rewrite(graph: &Graph, replaced: &BTreeMap<SymbolId, Size>) -> Graph {
    let mut nodes: Arena<Node> = Arena::default();
    let mut moved: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.nodes.iter() {
        let mut node = node.clone();
        node.ty.shape = node.ty.shape.iter().map(|size| substitute(size, replaced)).collect();
        node.op.operands_mut().into_iter().for_each(|x| *x = moved[x.index()]);
        if let Op::Slice { start: size, .. } | Op::Size(size) = &mut node.op {
            *size = substitute(size, replaced);
        }
        let id = match node.op {
            Op::Broadcast(x) if nodes[x].ty == node.ty => x,
            _ => nodes.push(node),
        };
        moved.push(id);
    }
    let results = graph.results.iter().map(|id| moved[id.index()]).collect();
    let check = |check: &Check| Check {
        left: substitute(&check.left, replaced),
        right: substitute(&check.right, replaced),
        ..check.clone()
    };
    let checks = graph.checks.iter().map(check).collect();
    Graph { nodes, results, checks, ..graph.clone() }
}

#[cfg(test)]
mod tests {
    use fuse_artifact::{DType, Symbol};

    use super::*;
    use crate::{
        graph::{FunctionOptions, Param, ReduceOp, TensorType, verify::verify},
        operations::BinaryOp,
        span::Span,
    };

    fn graph() -> Graph {
        let axes = (0..2u16).flat_map(|param| (0..2u8).map(move |axis| SymbolSource::Axis { param, axis }));
        let both = |axis: u16| SymbolSource::Broadcast(vec![Size::symbol(axis), Size::symbol(axis + 2)].into());
        let sources = axes.chain([both(0), both(1)]);
        let names = ["x.0", "x.1", "y.0", "y.1", "M", "N"];
        let symbols =
            names.into_iter().zip(sources).map(|(name, source)| Symbol { name: name.into(), source }).collect();
        let ty = |first: u16| TensorType::new(DType::F32, vec![Size::symbol(first), Size::symbol(first + 1)]);
        let param =
            |name: &str, ty: TensorType| Param { name: name.into(), ty, scalar: false, padded: false, quantized: None };
        let mut nodes = Arena::default();
        for (index, first) in [0u16, 2].into_iter().enumerate() {
            nodes.push(Node { op: Op::Input(index as u16), ty: ty(first), span: Span::default() });
        }
        Graph {
            name: "expression".into(),
            params: vec![param("x", ty(0)), param("y", ty(2))],
            symbols,
            checks: vec![],
            nodes,
            results: vec![],
            updates: vec![],
            gradients: vec![],
            statements: vec![],
            options: FunctionOptions::default(),
        }
    }

    fn push(graph: &mut Graph, op: Op, dtype: DType, shape: Vec<Size>) -> NodeId {
        graph.nodes.push(Node { op, ty: TensorType::new(dtype, shape), span: Span::default() })
    }

    fn sizes(symbols: [u16; 2]) -> Vec<Size> {
        symbols.map(Size::symbol).to_vec()
    }

    fn normalized() -> Graph {
        let mut g = graph();
        let [x, y] = [0, 1].map(|index| g.nodes.handles().nth(index).expect("a parameter"));
        let column = vec![Size::symbol(0), Size::ONE];
        let sum = push(&mut g, Op::Reduce { op: ReduceOp::Sum, x, axes: vec![1] }, DType::F32, column);
        let sum = push(&mut g, Op::Broadcast(sum), DType::F32, sizes([0, 1]));
        let quotient = push(&mut g, Op::Binary(BinaryOp::Div, x, sum), DType::F32, sizes([0, 1]));
        let [left, right] = [quotient, y].map(|x| push(&mut g, Op::Broadcast(x), DType::F32, sizes([4, 5])));
        let product = push(&mut g, Op::Binary(BinaryOp::Mul, left, right), DType::F32, sizes([4, 5]));
        let count = push(&mut g, Op::Size(Size::symbol(4).mul(&Size::symbol(5))), DType::F32, vec![]);
        let all = Op::Reduce { op: ReduceOp::Sum, x: product, axes: vec![0, 1] };
        let total = push(&mut g, all, DType::F32, vec![Size::ONE, Size::ONE]);
        let count = push(&mut g, Op::Broadcast(count), DType::F32, vec![Size::ONE, Size::ONE]);
        let mean = push(&mut g, Op::Binary(BinaryOp::Div, total, count), DType::F32, vec![Size::ONE, Size::ONE]);
        g.results = vec![mean];
        g
    }

    #[test]
    fn rows_that_were_reduced_keep_their_shape() {
        let graph = normalized();
        assert_eq!(verify(&graph), Vec::<String>::new());
        let (assumed, checks) = products_keep_their_shape(&graph).expect("a broadcast may enlarge the rows");
        let required: Vec<(Size, Size)> = checks.into_iter().map(|check| (check.left, check.right)).collect();
        assert_eq!(required, [(Size::symbol(4), Size::symbol(0)), (Size::symbol(5), Size::symbol(1))]);
        let text = crate::graph::print::print(&assumed);
        assert_eq!(text.matches("broadcast %").count(), 3, "the rows are not broadcast any more:\n{text}");
        assert!(text.contains("size x.0*x.1"), "the count follows the shape:\n{text}");
        assert!(!text.contains("f32[M, N]"), "{text}");
    }

    #[test]
    fn rows_that_nothing_enlarges_need_no_assumption() {
        let (whole, mut graph) = (normalized(), graph());
        for (_, node) in whole.nodes.iter().skip(2).take(3) {
            graph.nodes.push(node.clone());
        }
        graph.results = graph.nodes.handles().last().into_iter().collect();
        assert_eq!(verify(&graph), Vec::<String>::new());
        assert!(products_keep_their_shape(&graph).is_none());
    }
}
