//! Rewritten graphs compute the same values.

use fuse_artifact::Size;
use fuse_compiler::{
    fusion::{moe::split_experts, unroll_reductions::unroll},
    graph::{Graph, Op, verify::verify},
    interp::{Value, run},
};

use super::graph;

/// Both signs; symbol `i` has the extent `i + 2`.
fn inputs(graph: &Graph) -> Vec<Value> {
    let symbols: Vec<u64> = (0..graph.symbols.len()).map(|symbol| symbol as u64 + 2).collect();
    let extent = |size: &Size| size.eval(&symbols).expect("an extent") as usize;
    let value = |(number, param): (usize, &fuse_compiler::graph::Param)| {
        let shape: Vec<usize> = param.ty.shape.iter().map(extent).collect();
        let count = shape.iter().product();
        let data = (0..count).map(|i: usize| ((i + 7 * number) as f64 * 1.7).sin()).collect();
        Value::from_data(param.ty.dtype, &shape, data).expect("as many numbers as elements")
    };
    graph.params.iter().enumerate().map(value).collect()
}

#[track_caller]
fn check(source: &str, rewritten: &Graph) {
    assert_eq!(verify(rewritten), Vec::<String>::new(), "{source}");
    let graph = graph(source);
    let [expected, found] = [&graph, rewritten].map(|graph| run(graph, &inputs(graph)).expect("values"));
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!((&expected.shape, expected.dtype), (&found.shape, found.dtype), "{source}");
        for (e, f) in expected.data.iter().zip(&found.data) {
            assert!((e - f).abs() <= 1e-6 * e.abs().max(1.0), "{source}: {f}, expected {e}");
        }
    }
}

fn reductions(graph: &Graph) -> usize {
    graph.nodes.iter().filter(|(_, node)| matches!(node.op, Op::Reduce { .. })).count()
}

#[test]
fn short_reductions_written_out() {
    for (op, then) in [("sum", "sum"), ("prod", "max"), ("max", "sum"), ("min", "min")] {
        let source = format!(
            "fn f(p: f32[N, 2, 3], q: f32[K, 2, 3]) -> f32[N, 2] {{
                let d = unsqueeze(q, axis = 0) - unsqueeze(p, axis = 1);
                {then}({op}(d * d - d, axis = 3), axis = 1) + {then}({op}(d, axis = [2, 3], keepdim = true), axis = [1, 3])
            }}"
        );
        let rewritten = unroll(graph(&source)).expect("a plan");
        assert_eq!(reductions(&rewritten), 2, "{source}");
        check(&source, &rewritten);
    }
}

#[test]
fn mixtures_in_products_of_their_own() {
    for experts in 2..=8 {
        let source = format!(
            "fn f(x: f32[T, D], g: f32[{experts}, T], u: f32[{experts}, D, N], w: f32[{experts}, D, N]) -> f32[T, N] {{
                2.0 * sum(unsqueeze(g, axis = 2) * silu(matmul(x, u)) - matmul(x, w) * 0.5, axis = 0)
            }}"
        );
        check(&source, &split_experts(&graph(&source)).expect("a mixture"));
    }
    let batched = "fn f(x: f32[3, B, T, D], w: f32[4, 1, B, D, N]) -> f32[3, B, T, N] {
        sum(matmul(x, w), axis = 0)
    }";
    check(batched, &split_experts(&graph(batched)).expect("a mixture"));
}
