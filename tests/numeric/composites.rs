//! Composite operations against the interpreter's ranges.

use fuse_test_support::{Sweep, compile, data};

fn check(what: &str, source: &str, sizes: &[&[(&str, usize)]]) {
    let mut sweep = Sweep::new(what).sharing_variants(2);
    for program in &compile(source) {
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

const SIZES: [&[(&str, usize)]; 4] =
    [&[("M", 3), ("N", 5)], &[("M", 8), ("N", 64)], &[("M", 1), ("N", 1)], &[("M", 33), ("N", 130)]];

#[test]
fn elements_that_move() {
    let source = "
        pub fn padded(x: f32[M, N], v: f32) -> (f32[M, N + 3], i32[M + N, N], bool[M, N + 2]) {
            (pad(x, axis = 1, before = 1, after = 2, value = v), pad(x as i32, axis = 0, before = N),
             pad(x > 0.0, axis = 1, after = 2, value = true))
        }
        pub fn rolled(x: f32[M, N], s: i32) -> (f32[M, N], f32[M, N], f32[M, N]) {
            (roll(x, axis = 1, shift = s), roll(x, axis = 0, shift = -2) * 2.0, roll(exp(x), axis = 1, shift = (N as i32) + 1))
        }
        pub fn more(x: f32[M, N]) -> (f32[M, N * 3], f32[M * 2, N], f32[M, N * M]) {
            (repeat(x, axis = 1, times = 3), tile(x, axis = 0, times = 2), repeat(x, axis = 1, times = M))
        }
        pub fn triangles(x: f32[M, N], k: i32) -> (f32[M, N], f32[M, N], i32[M, N]) {
            (tril(x), triu(x, diagonal = k), tril(x as i32, diagonal = -1))
        }
        pub fn parts(y: f32[M, 3, N]) -> (f32[M, N], f32[M, 2 * N], f32[M, N]) {
            let x = reshape(y, [M, 3 * N]);
            let (q, k, v) = split(x, axis = 1, parts = 3);
            let (a, b) = split(x, axis = 1, sizes = [N, 2 * N]);
            (q * k + v, b, a)
        }";
    check("moved elements", source, &SIZES);
}

#[test]
fn levels_of_moved_elements() {
    let heat = "let x = x + 0.1 * (roll(x, axis = 0, shift = 1) + roll(x, axis = 0, shift = -1)
        + roll(x, axis = 1, shift = 1) + roll(x, axis = 1, shift = -1) - 4.0 * x);";
    let sums = "let x = x + slice(pad(x, axis = 1, before = 2), axis = 1, start = 0, end = N);";
    let gathers = "let i = gather(i, i, axis = 0); let x = gather(x, i, axis = 1) - gather(x, k, axis = 1) * 0.5;";
    let source = format!(
        "pub fn heat(x: f32[M, N]) -> f32[M, N] {{ {} x }}
         pub fn sums(x: f32[M, N]) -> f32[M, N] {{ {} x }}
         pub fn gathers(x: f32[M, N], j: i32[N], l: i32[N]) -> f32[M, N] {{
             let i = j % (N as i32); let k = l % (N as i32); {} x }}",
        heat.repeat(5),
        sums.repeat(6),
        gathers.repeat(4)
    );
    check("levels of moved elements", &source, &SIZES);
}

#[test]
fn gates_norms_and_losses() {
    for dtype in ["f32", "f16"] {
        let source = format!(
            "pub fn gated(x: {dtype}[M, N], y: {dtype}[M, N]) -> {dtype}[M, N] {{ glu(concat([x, y], axis = 1)) }}
             pub fn lengths(x: {dtype}[M, N]) -> ({dtype}[M], {dtype}[M, N]) {{
                 (norm(x, axis = 1), x / (norm(x, axis = 1, keepdim = true) + 1.0))
             }}
             pub fn losses(x: {dtype}[M, N], c: i32[M]) -> {dtype}[M] {{ cross_entropy(x, c) }}
             pub fn loss(x: {dtype}[N, M], c: i32[M]) -> {dtype} {{ mean(cross_entropy(x, c, axis = 0)) }}"
        );
        check(&format!("gates and losses of {dtype}"), &source, &SIZES);
    }
}

/// One kernel for every back end, within the stack of a test thread.
#[test]
fn long_sums() {
    let terms = " + x * y - y".repeat(150);
    let source = format!("pub fn f(x: f32[M, N], y: f32[M, N]) -> f32[M, N] {{ x{terms} }}");
    assert_eq!(compile(&source)[0].function.kernels.len(), 1);
    check("a long sum", &source, &SIZES[..2]);
}
