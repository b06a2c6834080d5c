//! Assumptions of the expression form: products that a broadcast does not enlarge.
//!
//! There, ranks and extents are unknown while the program compiles, so `matmul(x, w) + b` might repeat the product
//! along `b`. Then the sum is no epilogue of the product. Almost always it does not, and the function compiles
//! twice: once under the assumption, checked at launch, and once for all other shapes.

use std::{borrow::Cow, collections::BTreeMap};

use fuse_artifact::{Check, Relation, Size, SymbolId, SymbolSource, Term};

use crate::{
    arena::Arena,
    graph::{Graph, Node, NodeId, Op},
};

/// The graph under the assumption that broadcasts leave products as they are, and what that requires.
/// `None` if there is nothing to assume.
pub fn products_keep_their_shape(graph: &Graph) -> Option<(Graph, Vec<Check>)> {
    let replaced = enlarged_extents(graph);
    if replaced.is_empty() {
        return None;
    }
    let checks = replaced.iter().map(|(&symbol, size)| Check {
        relation: Relation::Equal,
        left: Size::symbol(symbol),
        right: size.clone(),
        what: Cow::Borrowed("extent of a product that a broadcast might enlarge"),
    });
    Some((rewrite(graph, &replaced), checks.collect()))
}

/// The extents that arise when a value computed from a product is broadcast, each with the product's extent.
fn enlarged_extents(graph: &Graph) -> BTreeMap<SymbolId, Size> {
    let mut replaced: BTreeMap<SymbolId, Size> = BTreeMap::new();
    let mut from_product = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter() {
        let inherits = node.op.operands().iter().any(|x| from_product[x.index()]);
        let pointwise = super::legality::is_pointwise(&node.op) || matches!(node.op, Op::Broadcast(_));
        from_product[id.index()] = matches!(node.op, Op::Matmul { .. }) || (inherits && pointwise);
        let Op::Broadcast(x) = node.op else { continue };
        if !inherits || !from_product[x.index()] {
            continue;
        }
        for (from, to) in graph.nodes[x].ty.shape.iter().zip(&node.ty.shape) {
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

/// The graph with extents replaced, without the broadcasts that thereby do nothing.
fn rewrite(graph: &Graph, replaced: &BTreeMap<SymbolId, Size>) -> Graph {
    let mut nodes: Arena<Node> = Arena::default();
    let mut moved: Vec<NodeId> = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.nodes.iter() {
        let mut node = node.clone();
        node.ty.shape = node.ty.shape.iter().map(|size| substitute(size, replaced)).collect();
        node.op.operands_mut().into_iter().for_each(|x| *x = moved[x.index()]);
        if let Op::Slice { start, .. } = &mut node.op {
            *start = substitute(start, replaced);
        }
        let id = match node.op {
            Op::Broadcast(x) if nodes[x].ty == node.ty => x,
            _ => nodes.push(node),
        };
        moved.push(id);
    }
    let results = graph.results.iter().map(|id| moved[id.index()]).collect();
    // Checks of equal extents must speak of the extents that the nodes now have.
    let check = |check: &Check| Check {
        left: substitute(&check.left, replaced),
        right: substitute(&check.right, replaced),
        ..check.clone()
    };
    let checks = graph.checks.iter().map(check).collect();
    Graph { nodes, results, checks, ..graph.clone() }
}
