//! Gradients of attentions on the installed adapters against the interpreter's ranges: no plan stores scores, whatever happens to
//! these, and every variant that may run, at sizes below, at and beyond tiles.

use fuse_test_support::{Program, Sweep, compile, data};

type Dims<'a> = &'a [(&'a str, usize)];

/// Queries M and keys N: one row, few rows, primes, exactly tiles, and beyond.
const SIZES: &[Dims<'_>] = &[
    &[("B", 2), ("M", 1), ("N", 1)],
    &[("B", 1), ("M", 1), ("N", 67)],
    &[("B", 2), ("M", 3), ("N", 5)],
    &[("B", 1), ("M", 64), ("N", 64)],
    &[("B", 1), ("M", 37), ("N", 32)],
    &[("B", 1), ("M", 132), ("N", 71)],
];

/// The kernels of a gradient that stores no scores: the attention, a number per row of its output, queries, keys and values.
fn assert_fused(program: &Program) {
    for plan in program.plans() {
        let kinds: Vec<&str> = plan.plan.groups.iter().map(|group| group.kind.as_ref()).collect();
        let sums = kinds.iter().filter(|kind| **kind == "weighted sum").count();
        let products = kinds.iter().filter(|kind| **kind == "contraction").count();
        assert!((2..=3).contains(&sums) && products == 0, "{kinds:?}\n{}", plan.plan);
    }
}

fn check(mut sweep: Sweep, source: &str, sizes: &[Dims<'_>]) {
    for program in &compile(source) {
        assert_fused(program);
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

/// The gradient of an attention whose scores are `scores` of the products `s`.
fn gradient(name: &str, ty: &str, [depth, columns]: [u32; 2], parameters: &str, scores: &str) -> String {
    let (q, k) = (format!("{ty}[B, M, {depth}]"), format!("{ty}[B, N, {depth}]"));
    let (v, c) = (format!("{ty}[B, N, {columns}]"), format!("{ty}[B, M, {columns}]"));
    format!(
        "pub fn {name}(q: {q}, k: {k}, v: {v}, c: {c}{parameters}) -> ({q}, {k}, {v}) {{
            let s = matmul(q, transpose(k));
            grad(matmul(softmax({scores}), v), wrt = [q, k, v], cotangent = c)
        }}"
    )
}

#[test]
fn every_head() {
    let heads = [[1, 3], [8, 8], [40, 40], [64, 64], [64, 32]];
    let source = heads.map(|head| gradient(&format!("head_{}_{}", head[0], head[1]), "f32", head, "", "s * 0.25"));
    check(Sweep::new("heads").sharing_variants(2), &source.join("\n"), SIZES);
}
