//! Partitioning of graphs: cases, and an exhaustive search on small graphs.

mod broadcasts;
mod cases;
mod levels;
mod oracle;
mod rewrites;

use fuse_compiler::{
    front,
    fusion::{
        self, Group, GroupKind, Groups, Policy,
        body::{Body, ValueOp},
    },
    graph::Graph,
};

fn graph(source: &str) -> Graph {
    let items = front::items(source.parse().expect("the source has balanced brackets"));
    let errors: Vec<String> = items.diagnostics.iter().map(|diagnostic| format!("{diagnostic:?}")).collect();
    assert!(errors.is_empty(), "{source}: {errors:#?}");
    let function = items.functions.into_iter().last().expect("a function");
    function.instances.into_iter().next().expect("an instance").graph
}

fn plan(graph: &Graph, policy: Policy) -> Groups {
    let groups = fusion::fuse(graph, policy).expect("a plan");
    let violations = fusion::verify::verify(graph, &groups);
    assert!(violations.is_empty(), "{violations:?}");
    groups
}

fn word(group: &Group) -> String {
    let count = |body: &Body| body.values.iter().filter(|value| matches!(value.op, ValueOp::Reduce(..))).count();
    let reductions = count(&group.body);
    match &group.kind {
        GroupKind::Pointwise => "pointwise".to_owned(),
        GroupKind::Reduction(_) => format!("reduction {reductions}"),
        GroupKind::Contraction(contraction) => {
            let products = match (contraction.rhs.len(), reductions) {
                (1, 0) => "matmul".to_owned(),
                (products, 0) => format!("matmul {products}"),
                (_, reductions) => format!("matmul + reduction {reductions}"),
            };
            match count(&contraction.lhs.0) {
                0 => products,
                rows => format!("rows {rows} + {products}"),
            }
        }
        GroupKind::Attention(_) => "attention".to_owned(),
        GroupKind::WeightedSum(sum) => format!("weighted sum {}", sum.values.len()),
    }
}
