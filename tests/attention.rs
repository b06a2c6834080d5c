//! Attention on the installed adapters against the interpreter's ranges: one kernel whatever happens to the scores, and
//! every variant that may run, at sizes below, at and beyond tiles.

use fuse_test_support::{Program, Sweep, compile, data};

type Dims<'a> = &'a [(&'a str, usize)];

/// Runs every function of `source` at all `sizes`; each must be a single kernel, an attention.
fn check(what: &str, source: &str, sizes: &[Dims<'_>]) -> Vec<Program> {
    let mut sweep = Sweep::new(what);
    let programs = compile(source);
    for program in &programs {
        let kernels: Vec<&str> = program.function.kernels.iter().map(|kernel| kernel.name.as_ref()).collect();
        assert!(matches!(kernels[..], [name] if name.ends_with("attention")), "{kernels:?}\n{}", program.function.plan);
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

/// Queries M and keys N: one row, few rows, small and odd, exactly tiles, and beyond.
const SIZES: &[Dims<'_>] = &[
    &[("B", 2), ("M", 1), ("N", 1)],
    &[("B", 1), ("M", 1), ("N", 67)],
    &[("B", 2), ("M", 3), ("N", 5)],
    &[("B", 1), ("M", 4), ("N", 130)],
    &[("B", 1), ("M", 33), ("N", 31)],
    &[("B", 1), ("M", 64), ("N", 64)],
    &[("B", 1), ("M", 67), ("N", 71)],
];

#[test]
fn every_head_size() {
    for (depth, columns) in [(1, 1), (8, 8), (32, 32), (40, 40), (64, 64), (64, 32), (8, 128), (3, 5)] {
        let source = format!(
            "pub fn f(q: f32[B, M, {depth}], k: f32[B, N, {depth}], v: f32[B, N, {columns}]) -> f32[B, M, {columns}] {{
                matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
            }}"
        );
        check(&format!("{depth}, {columns}"), &source, SIZES);
    }
}
