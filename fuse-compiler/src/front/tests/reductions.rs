//! Reductions, row operations and normalizations as graphs.

use super::graphs::{graph, nodes};

/// The nodes after the inputs of a body over `x: f32[B, M, N]`.
fn body(result: &str, body: &str) -> Vec<String> {
    let lines = nodes(&format!("fn f(x: f32[B, M, N]) -> {result} {{ {body} }}"));
    lines[1..].to_vec()
}

#[test]
fn dump() {
    for (r, b) in [
        ("f32", "sum(x)"),
        ("f32[B, N]", "sum(x, axis = 1)"),
        ("f32[B, 1, N]", "max(x, axis = M, keepdim = true)"),
        ("f32[M]", "mean(x, axis = [0, -1])"),
        ("i32[B, M]", "argmax(x, axis = -1)"),
        ("f32[B, M]", "var(x, axis = N)"),
        ("f32[B, M]", "var(x, axis = N, correction = 1)"),
        ("f32[B, M]", "logsumexp(x, axis = N)"),
        ("f32[B, M, N]", "softmax(x)"),
        ("f32[B, M, N]", "log_softmax(x, axis = 1)"),
        ("bool[B]", "any(x > 0, axis = [1, 2])"),
        ("f32[B, M, N]", "x - unsqueeze(mean(x, axis = -1), axis = -1)"),
        ("f32[B, M, N]", "x / sqrt(N as f32)"),
        ("f32[B, M, N]", "flip(x, axis = 1)"),
        ("f32[B, M + M, N]", "concat([x, x], axis = 1)"),
        ("f32[B, M, 2, N]", "stack([x, x], axis = 2)"),
        ("f32[B, M, N]", "dropout(x, 0.25, 7)"),
    ] {
        eprintln!("{b}\n{:#?}", body(r, b));
    }
    for t in [
        "fn f(x: f16[M, N], g: f16[N], b: f16[N]) -> f16[M, N] { layer_norm(x, g, b) }",
        "fn f(x: f32[M, N], g: f32[N]) -> f32[M, N] { rms_norm(x, g) }",
        "fn f(x: f32[B, C, H, W], m: f32[C], v: f32[C], g: f32[C], b: f32[C]) -> f32[B, C, H, W] { batch_norm(x, m, v, g, b) }",
        "fn f(x: f32[B, C, H, W], g: f32[C], b: f32[C]) -> f32[B, C, H, W] { group_norm(x, g, b, groups = 8) }",
        "fn f(x: f32[B, 64, H, W], g: f32[64], b: f32[64]) -> f32[B, 64, H, W] { group_norm(x, g, b, groups = 8) }",
        "fn f(t: f32[V, D], i: u32[B, S]) -> f32[B, S, D] { embedding(t, i) }",
        "fn f(t: f32[V, D], i: i32) -> f32[D] { gather(t, i) }",
        "fn f(t: f32[V, D], i: i32[K]) -> f32[V, K] { gather(t, i, axis = D) }",
        "fn f(i: i32[K]) -> f32[K, 10] { one_hot(i, classes = 10) }",
        "fn f(x: f32[M, N], p: f32, seed: u32) -> f32[M, N] { dropout(x, p, seed) }",
    ] {
        eprintln!("{}", graph(t));
    }
    for e in [
        "sum(x, axis = -1)",
        "softmax(x) + y",
        "layer_norm(x, g, b)",
        "embedding(t, i)",
        "gather(t, i, axis = -1)",
        "concat([x, y, z], axis = -2)",
        "dropout(x, p, seed)",
        "sum(transpose(x))",
        "one_hot(i, classes = 4)",
        "argmax(x)",
        "stack([x, y], axis = -1)",
        "group_norm(reshape(x, [2, 8, 4]), g, b, groups = 2)",
        "x - unsqueeze(mean(x, axis = -1), axis = -1)",
        "mean(x, axis = [-1, -3], keepdim = true)",
        "flip(x, axis = -2)",
        "batch_norm(x, m, v, g, b, axis = -3)",
    ] {
        let ex = super::expression_of(e);
        eprintln!(
            "{e}: {:?} {:?}",
            ex.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ex.requirements
        );
        for r in &ex.results {
            eprintln!("  rank {:?} {:?}", r.rank, r.dtype);
        }
        if let Some(i) = ex.instances.first() {
            eprintln!("{}", crate::graph::print::print(&i.graph));
        }
    }
}
