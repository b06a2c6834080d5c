//! Multiplication orders of chained products.
//!
//! `a·b·c` equals `(a·b)·c` and `a·(b·c)`, but the work may differ by orders of magnitude. Literal dimensions decide
//! the order; otherwise each order becomes a graph and the launch selects one. Rounding differs within the same bounds
//! on `|a|·|b|·|c|`.

use std::collections::{BTreeMap, BTreeSet};

use fuse_artifact::Size;

use super::live_nodes;
use crate::{
    arena::Arena,
    graph::{Graph, Node, NodeId, Op, TensorType},
};

/// Longest chain with all orders; longer ones get left to right and right to left.
const MAX_FACTORS: usize = 4;

/// Longest reordered chain; the search takes cubic time.
const MAX_LENGTH: usize = 32;

const MAX_ORDERS: usize = 5;

/// The graph in every multiplication order worth compiling, as written first.
///
/// Only the best order if all dimensions are known.
pub fn orders(graph: &Graph) -> Vec<Graph> {
    let moved = graph.nodes.handles().map(|id| (id, id)).collect();
    let mut graphs = vec![Reordered { graph: graph.clone(), moved }];
    for chain in chains(graph).iter().filter(|chain| chain.factors.len() <= MAX_LENGTH) {
        let written = tree_as_written(graph, chain);
        match chain.dimensions(graph) {
            Some(dimensions) => {
                let best = best_order(&dimensions);
                if work(&best, &dimensions) < work(&written, &dimensions) {
                    graphs = graphs.iter().map(|reordered| reordered.with(chain, &best)).collect();
                }
            }
            None if graphs.len() >= MAX_ORDERS => {}
            None => {
                let others = trees(chain.factors.len()).into_iter().filter(|tree| *tree != written);
                let variants: Vec<Reordered> = others
                    .flat_map(|tree| graphs.iter().map(|graph| graph.with(chain, &tree)).collect::<Vec<_>>())
                    .collect();
                graphs.extend(variants);
                graphs.truncate(MAX_ORDERS);
            }
        }
    }
    graphs.into_iter().map(|reordered| reordered.graph).collect()
}

struct Reordered {
    graph: Graph,
    moved: BTreeMap<NodeId, NodeId>,
}

struct Chain {
    root: NodeId,
    factors: Vec<NodeId>,
    products: BTreeSet<NodeId>,
}

#[derive(Clone, Debug, PartialEq)]
enum Tree {
    Factor(usize),
    Product(Box<Tree>, Box<Tree>),
}

impl Tree {
    fn product(left: Self, right: Self) -> Self {
        Self::Product(Box::new(left), Box::new(right))
    }

    fn first(&self) -> usize {
        match self {
            Self::Factor(i) => *i,
            Self::Product(left, _) => left.first(),
        }
    }

    fn last(&self) -> usize {
        match self {
            Self::Factor(i) => *i,
            Self::Product(_, right) => right.last(),
        }
    }
}

fn chains(graph: &Graph) -> Vec<Chain> {
    let live = live_nodes(graph);
    let mut uses: BTreeMap<NodeId, usize> = BTreeMap::new();
    let operands = live.iter().flat_map(|&node| graph.nodes[node].op.operands());
    operands.chain(graph.results.iter().copied()).for_each(|x| *uses.entry(x).or_default() += 1);
    let mut inner = BTreeSet::new();
    let mut found = vec![];
    for &root in live.iter().rev() {
        if inner.contains(&root) || !matches!(graph.nodes[root].op, Op::Matmul { .. }) {
            continue;
        }
        let chain = flatten(graph, &uses, root);
        inner.extend(chain.products.iter().copied());
        if chain.factors.len() > 2 {
            found.push(chain);
        }
    }
    found
}

fn flatten(graph: &Graph, uses: &BTreeMap<NodeId, usize>, root: NodeId) -> Chain {
    let batch = |node: NodeId| {
        let shape = &graph.nodes[node].ty.shape;
        &shape[..shape.len() - 2]
    };
    let mut chain = Chain { root, factors: vec![], products: BTreeSet::new() };
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        let inside = || node == root || uses.get(&node) == Some(&1) && batch(node) == batch(root);
        match graph.nodes[node].op {
            Op::Matmul { lhs, rhs } if inside() => {
                chain.products.insert(node);
                pending.extend([rhs, lhs]);
            }
            _ => chain.factors.push(node),
        }
    }
    chain
}

impl Chain {
    /// Rows of the first factor, then columns of each; `None` if one is unknown.
    fn dimensions(&self, graph: &Graph) -> Option<Vec<u64>> {
        let extent = |node: NodeId, from_end: usize| {
            let shape = &graph.nodes[node].ty.shape;
            shape[shape.len() - from_end].as_constant()
        };
        let columns = self.factors.iter().map(|&factor| extent(factor, 1));
        std::iter::once(extent(self.factors[0], 2)).chain(columns).collect()
    }
}

fn tree_as_written(graph: &Graph, chain: &Chain) -> Tree {
    fn tree(graph: &Graph, chain: &Chain, node: NodeId, next: &mut usize) -> Tree {
        match graph.nodes[node].op {
            Op::Matmul { lhs, rhs } if chain.products.contains(&node) => {
                let left = tree(graph, chain, lhs, next);
                Tree::product(left, tree(graph, chain, rhs, next))
            }
            _ => {
                *next += 1;
                Tree::Factor(*next - 1)
            }
        }
    }
    tree(graph, chain, chain.root, &mut 0)
}

fn trees(factors: usize) -> Vec<Tree> {
    if factors <= MAX_FACTORS {
        return all_trees(0, factors);
    }
    let left = (1..factors).fold(Tree::Factor(0), |tree, i| Tree::product(tree, Tree::Factor(i)));
    let last = Tree::Factor(factors - 1);
    let right = (0..factors - 1).rev().fold(last, |tree, i| Tree::product(Tree::Factor(i), tree));
    vec![left, right]
}

fn all_trees(from: usize, to: usize) -> Vec<Tree> {
    if to - from == 1 {
        return vec![Tree::Factor(from)];
    }
    let splits = from + 1..to;
    let pairs = splits.flat_map(|at| {
        let rights = all_trees(at, to);
        all_trees(from, at)
            .into_iter()
            .flat_map(move |left| rights.clone().into_iter().map(move |right| Tree::product(left.clone(), right)))
    });
    pairs.collect()
}

fn work(tree: &Tree, dimensions: &[u64]) -> u128 {
    match tree {
        Tree::Factor(_) => 0,
        Tree::Product(left, right) => {
            let [rows, depth, columns] =
                [left.first(), right.first(), right.last() + 1].map(|i| u128::from(dimensions[i]));
            work(left, dimensions) + work(right, dimensions) + rows * depth * columns
        }
    }
}

/// Fewest multiplications, by dynamic programming over intervals.
fn best_order(dimensions: &[u64]) -> Tree {
    let count = dimensions.len() - 1;
    let mut best: BTreeMap<(usize, usize), Tree> = (0..count).map(|i| ((i, i + 1), Tree::Factor(i))).collect();
    for length in 2..=count {
        for from in 0..=count - length {
            let to = from + length;
            let options = (from + 1..to).map(|at| Tree::product(best[&(from, at)].clone(), best[&(at, to)].clone()));
            let cheapest = options.min_by_key(|tree| work(tree, dimensions));
            best.extend(cheapest.map(|tree| ((from, to), tree)));
        }
    }
    best.remove(&(0, count)).unwrap_or(Tree::Factor(0))
}

impl Reordered {
    fn with(&self, chain: &Chain, tree: &Tree) -> Self {
        let mut nodes: Arena<Node> = Arena::default();
        let mut moved: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        let products: BTreeSet<NodeId> = chain.products.iter().map(|product| self.moved[product]).collect();
        // Dead values may depend on removed products.
        for id in live_nodes(&self.graph) {
            let node = &self.graph.nodes[id];
            if id == self.moved[&chain.root] {
                let factors: Vec<NodeId> = chain.factors.iter().map(|factor| moved[&self.moved[factor]]).collect();
                let product = multiply(&mut nodes, node, &factors, tree);
                moved.insert(id, product);
            } else if !products.contains(&id) {
                let mut node = node.clone();
                node.op.operands_mut().into_iter().for_each(|x| *x = moved[x]);
                moved.insert(id, nodes.push(node));
            }
        }
        let results = self.graph.results.iter().map(|id| moved[id]).collect();
        let graph = Graph { nodes, results, ..self.graph.clone() };
        let followed = self.moved.iter().filter_map(|(id, now)| Some((*id, *moved.get(now)?)));
        Self { moved: followed.collect(), graph }
    }
}

fn multiply(nodes: &mut Arena<Node>, root: &Node, factors: &[NodeId], tree: &Tree) -> NodeId {
    match tree {
        Tree::Factor(i) => factors[*i],
        Tree::Product(left, right) => {
            let lhs = multiply(nodes, root, factors, left);
            let rhs = multiply(nodes, root, factors, right);
            let rank = root.ty.rank();
            let extent = |node: NodeId, axis: usize| nodes[node].ty.shape[axis].clone();
            let mut shape: Vec<Size> = root.ty.shape[..rank - 2].to_vec();
            shape.extend([extent(lhs, rank - 2), extent(rhs, rank - 1)]);
            let ty = TensorType { dtype: root.ty.dtype, shape };
            nodes.push(Node { op: Op::Matmul { lhs, rhs }, ty, span: root.span })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_order_is_the_textbooks() {
        // Cormen et al., Introduction to Algorithms, §15.2: 15125 multiplications.
        let dimensions = [30, 35, 15, 5, 10, 20, 25];
        assert_eq!(work(&best_order(&dimensions), &dimensions), 15125);
        assert_eq!(best_order(&[2, 3]), Tree::Factor(0));
    }

    #[test]
    fn chains_of_three_and_four_have_all_orders() {
        assert_eq!([3, 4, 5].map(|factors| trees(factors).len()), [2, 5, 2]);
    }
}
