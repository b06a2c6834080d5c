//! Values of many pieces (`concat`, `stack`): bounds the selection inside one kernel.
//!
//! A kernel that inlines a `concat` evaluates every piece for every element. `grad::joined` nests pieces in groups; too
//! many for one kernel are stored by group. Evaluations then grow with nesting depth, not with pieces.

use std::collections::BTreeSet;

use crate::graph::{Graph, NodeId, Op};

const MAX_PIECES: u32 = 64;

pub(super) fn groups_to_store(graph: &Graph, users: &[BTreeSet<NodeId>]) -> Vec<(NodeId, NodeId, &'static str)> {
    let pieces = pieces(graph);
    let mut whole = pieces.clone();
    let mut found = vec![];
    for (id, node) in graph.nodes.iter().rev() {
        for &user in &users[id.index()] {
            let reads = match graph.nodes[user].op {
                Op::Select { on_true, on_false, .. } => on_true == id || on_false == id,
                Op::Take { x, .. } => x == id,
                _ => false,
            };
            if reads {
                whole[id.index()] = whole[id.index()].max(whole[user.index()]);
            }
        }
        if let Op::Take { x, .. } = node.op
            && matches!(graph.nodes[x].op, Op::Select { .. })
            && pieces[x.index()] > 1
            && whole[id.index()] > MAX_PIECES
            && !users[id.index()].is_empty()
        {
            found.push((x, id, "one kernel chooses among at most 64 pieces"));
        }
    }
    found
}

fn pieces(graph: &Graph) -> Vec<u32> {
    let mut pieces: Vec<u32> = Vec::with_capacity(graph.nodes.len());
    for (_, node) in graph.nodes.iter() {
        let of = |x: NodeId| pieces[x.index()];
        pieces.push(match node.op {
            Op::Select { on_true, on_false, .. } => of(on_true).saturating_add(of(on_false)),
            Op::Take { x, .. } => of(x).max(1),
            Op::Broadcast(x) | Op::Reshape(x) | Op::Unary(_, x) | Op::Cast(x) => of(x).min(1),
            Op::Literal(_) | Op::Size(_) | Op::Scalar(_) | Op::Index { .. } => 0,
            _ => 1,
        });
    }
    pieces
}
