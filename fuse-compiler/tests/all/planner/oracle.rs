//! Exhaustive search: no set of materialized values gives a cheaper plan.

use std::collections::BTreeSet;

use fuse_compiler::{
    fusion::{Policy, cost::seconds, fuse_with},
    graph::{Graph, NodeId, Op},
};

use super::{graph, plan};

/// All but parameters, constants, movements and coordinates.
fn candidates(graph: &Graph) -> Vec<NodeId> {
    let computed = |op: &Op| {
        !matches!(
            op,
            Op::Input(_)
                | Op::Scalar(_)
                | Op::Literal(_)
                | Op::Size(_)
                | Op::Index { .. }
                | Op::Reshape(_)
                | Op::Broadcast(_)
                | Op::Permute { .. }
                | Op::Slice { .. }
        )
    };
    let is_candidate = |id: &NodeId| {
        let node = &graph.nodes[*id];
        computed(&node.op) && node.ty.dtype.is_float() && !node.ty.shape.is_empty()
    };
    graph.nodes.handles().filter(is_candidate).collect()
}

/// All symbols have the same value.
#[track_caller]
fn check(source: &str, sizes: &[u64]) {
    check_within(1.0001, source, sizes);
}

/// Tolerates a slowdown of `factor`.
#[track_caller]
fn check_within(factor: f64, source: &str, sizes: &[u64]) {
    let graph = graph(source);
    let candidates = candidates(&graph);
    assert!(candidates.len() <= 12, "{} candidates: too many to try all cuts", candidates.len());
    for &size in sizes {
        let symbols = vec![size; graph.symbols.len()];
        let planned = Policy::ALL
            .map(|policy| seconds(&graph, &plan(&graph, policy), &symbols))
            .into_iter()
            .fold(f64::INFINITY, f64::min);
        let (mut best, mut best_cut, mut tried) = (f64::INFINITY, BTreeSet::new(), 0);
        for bits in 0..1u32 << candidates.len() {
            let chosen = candidates.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, &id)| id);
            let forced: BTreeSet<NodeId> = chosen.collect();
            for policy in Policy::ALL {
                // Some sets need what they store.
                let Ok(groups) = fuse_with(&graph, policy, &forced) else { continue };
                tried += 1;
                let cost = seconds(&graph, &groups, &symbols);
                if cost < best {
                    (best, best_cut) = (cost, forced.clone());
                }
            }
        }
        assert!(tried > 1, "nothing to compare with");
        let text = fuse_compiler::graph::print::print(&graph);
        assert!(
            planned <= best * factor,
            "at {size}: {planned:e} s planned, {best:e} s with {best_cut:?} stored\n{text}"
        );
    }
}

#[test]
fn pointwise_and_rows() {
    check("fn f(x: f32[M, N]) -> f32[M, N] { softmax(x) }", &[8, 512, 4096]);
    check(
        "fn f(x: f32[M, N], r: f32[M, N]) -> (f32[M, N], f32[M]) { let s = exp(x + r); (s * 2.0, sum(s, axis = 1)) }",
        &[8, 512, 4096],
    );
    check(
        "fn f(x: f32[M, N]) -> (f32[M], f32[N]) { let e = exp(x); (sum(e, axis = 1), sum(e, axis = 0)) }",
        &[8, 512, 4096],
    );
}

#[test]
fn products() {
    check(
        "fn f(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] { relu(matmul(x, w) + b + r) }",
        &[8, 512, 4096],
    );
    check("fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x * 2.0, w) }", &[8, 512, 4096]);
    check("fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(gelu(x), w) }", &[8, 128, 512, 4096]);
    check(
        "fn f(x: f32[M, K], w: f32[K, N], d: f32[N, M]) -> f32[M, M] { matmul(gelu(matmul(x, w)), d) }",
        &[8, 512, 4096],
    );
    check(
        "fn f(x: f32[S, E], g: f32[E, H], u: f32[E, H]) -> f32[S, H] { silu(matmul(x, g)) * matmul(x, u) }",
        &[8, 512, 4096],
    );
}

#[test]
fn products_and_rows() {
    check(
        "fn f(x: f32[M, K], w: f32[K, 256], g: f32[256]) -> f32[M, 256] { rms_norm(matmul(x, w), g) }",
        &[8, 512, 4096],
    );
    check(
        "fn f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N] { matmul(rms_norm(x, g), w) }",
        &[8, 128, 512, 4096],
    );
    check("fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(softmax(x), w) }", &[8, 128, 512, 4096]);
    check("fn f(x: f32[M, K], w: f32[K, 1024]) -> f32[M, 1024] { softmax(matmul(x, w)) }", &[8, 512, 4096]);
}

#[test]
fn values_read_at_several_places() {
    // The planner does not look ahead.
    let level = "let x = roll(x, axis = 1, shift = 1) + roll(x, axis = 1, shift = -1);";
    check_within(1.25, &format!("fn f(x: f32[M, N]) -> f32[M, N] {{ {} x }}", level.repeat(3)), &[8, 512, 4096]);
    let stencil =
        "let x = roll(x, axis = 0, shift = 1) + roll(x, axis = 0, shift = -1) + roll(x, axis = 1, shift = 1) - x;";
    check_within(1.25, &format!("fn f(x: f32[M, N]) -> f32[M, N] {{ {} x }}", stencil.repeat(2)), &[8, 512, 4096]);
    let gathers = "let x = gather(x, i, axis = 1) + gather(x, k, axis = 1);";
    let source = format!("fn f(x: f32[M, N], i: i32[N], k: i32[N]) -> f32[M, N] {{ {} x }}", gathers.repeat(3));
    check_within(1.25, &source, &[8, 512, 4096]);
}
