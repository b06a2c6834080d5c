//! One case per graph shape.

use fuse_compiler::fusion::Policy;

use super::{graph, plan, word};

#[track_caller]
fn check(source: &str, fused: &[&str], separate: &[&str]) {
    let graph = graph(source);
    for (policy, expected) in [(Policy::FUSED, fused), (Policy::SEPARATE, separate)] {
        let groups = plan(&graph, policy);
        let found: Vec<String> = groups.groups.iter().map(word).collect();
        let text = fuse_compiler::fusion::print::print(&graph, &groups);
        assert_eq!(found, expected, "{policy:?}\n{}\n{text}", fuse_compiler::graph::print::print(&graph));
    }
}

#[test]
fn norms_and_softmax_are_one_kernel_with_what_is_around_them() {
    check("fn f(x: f32[M, N]) -> f32[M, N] { softmax(x * 2.0) }", &["reduction 2"], &["reduction 2"]);
    let norm = "fn f(x: f32[M, N], g: f32[N], b: f32[N]) -> f32[M, N] { gelu(layer_norm(x, g, b)) }";
    check(norm, &["reduction 2"], &["reduction 2"]);
    let column = "fn f(x: f32[M, N]) -> f32[N] { sqrt(mean(x * x, axis = 0)) }";
    check(column, &["reduction 1"], &["reduction 1"]);
    let kept = "fn f(x: f32[A, B, C]) -> f32[A, C] { log(sum(exp(x), axis = 1)) + 1.0 }";
    check(kept, &["reduction 1"], &["reduction 1"]);
}

#[test]
fn reductions_share_a_kernel_where_they_share_rows_and_input() {
    let same = "fn f(x: f32[M, N]) -> (f32[M], f32[M]) { (sum(x, axis = N), max(x, axis = N)) }";
    check(same, &["reduction 2"], &["reduction 2"]);
    let others = "fn f(x: f32[M, N]) -> (f32[M], f32[N]) { (sum(x, axis = N), sum(x, axis = M)) }";
    check(others, &["reduction 1", "reduction 1"], &["reduction 1", "reduction 1"]);
    let strangers = "fn f(x: f32[M, N], y: f32[M, N]) -> (f32[M], f32[M]) { (sum(x, axis = N), sum(y, axis = N)) }";
    check(strangers, &["reduction 1", "reduction 1"], &["reduction 1", "reduction 1"]);
}

#[test]
fn a_sum_that_is_normalized_and_kept_is_stored_once() {
    let source = "fn f(x: f32[M, N], r: f32[M, N], g: f32[N]) -> (f32[M, N], f32[M, N]) {
        let s = x + r;
        (s, rms_norm(s, g))
    }";
    check(source, &["reduction 1"], &["reduction 1"]);
}

#[test]
fn products_of_one_operand_run_side_by_side() {
    let qkv = "fn f(x: f32[S, E], q: f32[E, H], k: f32[E, H], v: f32[E, H]) -> (f32[S, H], f32[S, H], f32[S, H]) {
        (matmul(x, q), matmul(x, k), matmul(x, v))
    }";
    check(qkv, &["matmul 3"], &["matmul", "matmul", "matmul"]);
    let gated = "fn f(x: f32[S, E], g: f32[E, H], u: f32[E, H], d: f32[H, E]) -> f32[S, E] {
        matmul(silu(matmul(x, g)) * matmul(x, u), d)
    }";
    check(gated, &["matmul 2", "matmul"], &["matmul", "matmul", "matmul"]);
    let dependent = "fn f(x: f32[S, S], w: f32[S, S]) -> f32[S, S] { matmul(x, matmul(x, w)) }";
    check(dependent, &["matmul", "matmul"], &["matmul", "matmul"]);
}

#[test]
fn a_product_normalizes_rows_that_its_workgroups_own() {
    let source = |n: &str| {
        format!(
            "fn f(x: f32[M, K], w: f32[K, {n}], r: f32[M, {n}], g: f32[{n}], b: f32[{n}]) -> f32[M, {n}] {{
                layer_norm(matmul(x, w) + r, g, b)
            }}"
        )
    };
    check(&source("384"), &["matmul + reduction 2"], &["matmul", "reduction 2"]);
    check(&source("513"), &["matmul", "reduction 2"], &["matmul", "reduction 2"]);
    check(&source("N"), &["matmul + reduction 2"], &["matmul", "reduction 2"]);
    assert_eq!(plan(&graph(&source("N")), Policy::FUSED).assumes.len(), 1);
    assert_eq!(plan(&graph(&source("384")), Policy::FUSED).assumes.len(), 0);
}

#[test]
fn takes_are_read_in_place() {
    let joined = "fn f(a: f32[A, N], b: f32[B, N]) -> f32[A + B, N] { relu(concat([a, b * 2.0], axis = 0)) }";
    check(joined, &["pointwise"], &["pointwise"]);
    let embedded = "fn f(t: f32[V, D], ids: u32[B, S], g: f32[D]) -> f32[B, S, D] { rms_norm(gather(t, ids), g) }";
    check(embedded, &["reduction 1"], &["reduction 1"]);
}

#[test]
fn a_permuted_result_is_stored_by_the_kernel_that_computes_it() {
    let source = "fn f(x: f32[A, B, C]) -> f32[B, A, C] { permute(softmax(x), [1, 0, 2]) }";
    check(source, &["reduction 2"], &["reduction 2"]);
}

#[track_caller]
fn check_inlined(source: &str, expected: &[&str]) {
    let graph = graph(source);
    let groups = plan(&graph, Policy::INLINED);
    let found: Vec<String> = groups.groups.iter().map(word).collect();
    let text = fuse_compiler::fusion::print::print(&graph, &groups);
    assert_eq!(found, expected, "{}\n{text}", fuse_compiler::graph::print::print(&graph));
}

#[test]
fn a_product_reduces_the_rows_of_its_left_operand() {
    let norm = "fn f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N] { matmul(rms_norm(x, g), w) }";
    check(norm, &["reduction 1", "matmul"], &["reduction 1", "matmul"]);
    check_inlined(norm, &["rows 1 + matmul"]);
    let around =
        "fn f(x: f32[B, M, K], r: f32[B, M, K], g: f32[K], b: f32[K], w: f32[K, N], c: f32[N]) -> f32[B, M, N] {
        gelu(matmul(layer_norm(x + r, g, b), w) + c)
    }";
    check_inlined(around, &["rows 2 + matmul"]);
    check_inlined("fn f(x: f32[M, K], v: f32[K, N]) -> f32[M, N] { matmul(softmax(x), v) }", &["rows 2 + matmul"]);
    let columns = "fn f(x: f32[K, M], w: f32[K, N]) -> f32[M, N] { matmul(transpose(softmax(x, axis = 0)), w) }";
    check_inlined(columns, &["rows 2 + matmul"]);
    let gated = "fn f(x: f32[M, K], g: f32[K], b: f32[K], u: f32[K, N], v: f32[K, N]) -> f32[M, N] {
        let n = layer_norm(x, g, b);
        silu(matmul(n, u)) * matmul(n, v)
    }";
    check_inlined(gated, &["rows 2 + matmul 2"]);
    let twice = "fn f(x: f32[M, K], w: f32[K, 96]) -> f32[M, 96] { softmax(matmul(softmax(x), w)) }";
    check_inlined(twice, &["rows 2 + matmul + reduction 2"]);
}

#[test]
fn rows_that_others_need_or_that_are_none_of_the_operand_stay_apart() {
    let stored = "fn f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> (f32[M, K], f32[M, N]) {
        let n = rms_norm(x, g);
        (n, matmul(n, w))
    }";
    check_inlined(stored, &["reduction 1", "matmul"]);
    let of_others = "fn f(x: f32[M, K], w: f32[K, N]) -> (f32[M, 1], f32[M, N]) {
        let s = sum(x, axis = 1, keepdim = true);
        (s, matmul(x / s, w))
    }";
    check_inlined(of_others, &["reduction 1", "matmul"]);
    let kernels = "fn f(x: f32[M, K], g: f32[K], u: f32[K, N], v: f32[K, H]) -> (f32[M, N], f32[M, H]) {
        let n = rms_norm(x, g);
        (matmul(n, u), matmul(n, v))
    }";
    check_inlined(kernels, &["reduction 1", "matmul", "matmul"]);
    let across = "fn f(x: f32[K, K], w: f32[K, N]) -> f32[K, N] { matmul(softmax(x, axis = 0), w) }";
    check_inlined(across, &["reduction 2", "matmul"]);
    let right = "fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, softmax(w, axis = 0)) }";
    check_inlined(right, &["reduction 2", "matmul"]);
    let both = "fn f(x: f32[K, K]) -> f32[K, K] { let n = softmax(x); matmul(n, n) }";
    check_inlined(both, &["reduction 2", "matmul"]);
    let owned = "fn f(x: f32[M, K], v: f32[K, 64], g: f32[64], w: f32[64, N]) -> f32[M, N] {
        matmul(rms_norm(matmul(x, v), g), w)
    }";
    check_inlined(owned, &["matmul + reduction 1", "matmul"]);
}
