//! Reductions against the interpreter's ranges: every operation, dtype, direction and legal variant, with fused
//! operations, at sizes below, at and beyond capacities.

use fuse_artifact::DType;
use fuse_compiler::interp::Value;
use fuse_test_support::{Numbers, Program, Sweep, adapter::Arguments, compile, data, devices, wait};

/// Around vectors, invocations and capacities of schedules.
const LENGTHS: [usize; 14] = [0, 1, 3, 4, 7, 8, 32, 37, 64, 128, 131, 512, 1023, 1024];

fn run(sweep: &mut Sweep, program: &Program, dims: &[(&str, usize)], seed: u64) {
    sweep.run(program, &data::inputs(&program.graph, dims, seed));
}

fn check(what: &str, source: &str, sizes: &[&[(&str, usize)]]) -> Vec<Program> {
    let mut sweep = Sweep::new(what).sharing_variants(2);
    let programs = compile(source);
    for program in &programs {
        for (seed, dims) in sizes.iter().enumerate() {
            run(&mut sweep, program, dims, seed as u64);
        }
    }
    sweep.finish();
    programs
}

fn assert_one_kernel(programs: &[Program]) {
    for program in programs {
        assert_eq!(program.function.kernels.len(), 1, "{}\n{}", program.source(), program.function.plan);
    }
}

fn results(op: &str, dtype: &str) -> String {
    if op.starts_with("arg") { "i32".to_owned() } else { dtype.to_owned() }
}

fn every_operation(dtype: &str, ops: &[&str]) {
    let sizes: [&[(&str, usize)]; 7] = [
        &[("M", 3), ("N", 5)],
        &[("M", 35), ("N", 32)],
        &[("M", 2), ("N", 1100)],
        &[("M", 17), ("N", 260)],
        &[("M", 1), ("N", 1)],
        &[("M", 3), ("N", 0)],
        &[("M", 300), ("N", 4)],
    ];
    for op in ops {
        let result = results(op, dtype);
        let source = format!(
            "pub fn rows(x: {dtype}[M, N]) -> {result}[M] {{ {op}(x, axis = 1) }}
             pub fn columns(x: {dtype}[M, N]) -> {result}[N] {{ {op}(x, axis = 0) }}"
        );
        assert_one_kernel(&check(&format!("{op} of {dtype}"), &source, &sizes));
    }
}

#[test]
fn every_operation_in_f32() {
    every_operation("f32", &["sum", "max", "min", "argmax", "argmin"]);
}

#[test]
fn every_operation_in_f16() {
    every_operation("f16", &["sum", "max", "argmin"]);
}

#[test]
fn every_operation_in_i32() {
    every_operation("i32", &["sum", "prod", "max", "min", "argmax", "argmin"]);
}

#[test]
fn every_operation_in_u32() {
    every_operation("u32", &["sum", "prod", "max", "min", "argmax", "argmin"]);
}

#[test]
fn every_operation_of_truth_values() {
    every_operation("bool", &["any", "all"]);
}

#[test]
fn products_and_norms_in_f32() {
    let lengths: Vec<[(&str, usize); 2]> = LENGTHS.iter().map(|&n| [("M", 3), ("N", n)]).collect();
    let sizes: Vec<&[(&str, usize)]> = lengths.iter().map(|dims| &dims[..]).collect();
    let source = "
        pub fn softened(x: f32[M, N]) -> f32[M, N] { softmax(x) }
        pub fn layer(x: f32[M, N], g: f32[N], b: f32[N]) -> f32[M, N] { layer_norm(x, g, b) }
        pub fn product(x: f32[M, N]) -> f32[M] { prod(x * 0.25 + 1.0, axis = 1) }";
    assert_one_kernel(&check("norms", source, &sizes));
}

#[test]
fn norms_of_other_kinds() {
    let sizes: [&[(&str, usize)]; 6] = [
        &[("M", 5), ("N", 24)],
        &[("M", 9), ("N", 111)],
        &[("M", 2), ("N", 2048)],
        &[("M", 1), ("N", 4100)],
        &[("M", 70), ("N", 5)],
        &[("M", 0), ("N", 8)],
    ];
    for dtype in ["f32", "f16"] {
        let source = format!(
            "pub fn root(x: {dtype}[M, N], g: {dtype}[N]) -> {dtype}[M, N] {{ rms_norm(x, g) }}
             pub fn logs(x: {dtype}[M, N]) -> {dtype}[M, N] {{ log_softmax(x) }}
             pub fn spread(x: {dtype}[M, N]) -> {dtype}[M] {{ var(x, axis = 1) }}
             pub fn activated(x: {dtype}[M, N], g: {dtype}[N], b: {dtype}[N], r: {dtype}[M, N]) -> {dtype}[M, N] {{
                 gelu(layer_norm(x + r, g, b)) + r
             }}
             pub fn down(x: {dtype}[M, N]) -> {dtype}[M, N] {{ softmax(x, axis = 0) }}"
        );
        assert_one_kernel(&check(&format!("norms of {dtype}"), &source, &sizes));
    }
}

#[test]
fn several_axes_and_orders() {
    let source = "
        pub fn around(x: f32[A, B, C]) -> f32[B] { sum(x, axis = [0, 2]) }
        pub fn middle(x: i32[A, B, C]) -> i32[A, 1, C] { max(x, axis = B, keepdim = true) }
        pub fn whole(x: f32[A, B, C]) -> f32 { sum(x) }
        pub fn centered(x: f32[A, B, C]) -> f32[A, B, C] { x - mean(x, axis = [0, 2], keepdim = true) }
        pub fn transposed(x: f32[A, B, C], y: f32[A, C, B]) -> f32[A, C] { sum(transpose(x) * y, axis = 2) }
        pub fn turned(x: f32[A, B, C]) -> f32[C, A, B] { softmax(permute(x, [2, 0, 1])) }
        pub fn sliced(x: f32[A, B, C]) -> f32[A, B] { max(slice(x, axis = 2, start = 1, end = 4), axis = 2) }
        pub fn first(x: f32[A, B, C]) -> i32[B, C] { argmax(x, axis = 0) }
        pub fn heads(x: f32[A, B, C], m: bool[A, C]) -> f32[A, B, C] {
            softmax(select(unsqueeze(m, axis = 1), x, -1e9))
        }";
    let sizes: [&[(&str, usize)]; 5] = [
        &[("A", 3), ("B", 4), ("C", 5)],
        &[("A", 2), ("B", 8), ("C", 12)],
        &[("A", 1), ("B", 33), ("C", 64)],
        &[("A", 40), ("B", 1), ("C", 4)],
        &[("A", 5), ("B", 300), ("C", 4)],
    ];
    assert_one_kernel(&check("several axes", source, &sizes));
}

#[test]
fn empty_rows_and_empty_results() {
    let source = "
        pub fn f(x: f32[A, B], c: f32[A]) -> (f32[A], f32[A], i32[A], f32[A, B]) {
            let m = max(x, axis = 1, keepdim = true);
            (sum(x, axis = 1) + c, squeeze(m, axis = 1), argmin(x, axis = 1), x - m)
        }
        pub fn any_row(x: bool[A, B]) -> (bool[A], bool[A]) { (any(x, axis = 1), all(x, axis = 1)) }
        pub fn down(x: i32[A, B]) -> (i32[B], i32[B]) { (max(x, axis = 0), prod(x, axis = 0)) }";
    let sizes: [&[(&str, usize)]; 4] =
        [&[("A", 3), ("B", 0)], &[("A", 0), ("B", 8)], &[("A", 0), ("B", 0)], &[("A", 4), ("B", 4)]];
    check("empty", source, &sizes);
}

#[test]
fn several_results_of_rows_and_elements() {
    let source = "
        pub fn f(x: f32[M, N], y: f32[M, N]) -> (f32[M], f32[M, N], i32[M], f32[M, N], f32[M, 1]) {
            let m = max(x, axis = 1, keepdim = true);
            let e = exp(x - m);
            let s = sum(e, axis = 1, keepdim = true);
            (squeeze(s, axis = 1), e / s, argmax(x + y, axis = 1), x - m * y, m * 2.0)
        }";
    let sizes: [&[(&str, usize)]; 4] =
        [&[("M", 3), ("N", 40)], &[("M", 2), ("N", 1500)], &[("M", 33), ("N", 8)], &[("M", 2), ("N", 77)]];
    assert_one_kernel(&check("several results", source, &sizes));
}

#[test]
fn coordinates_and_taken_values() {
    let source = "
        pub fn causal(x: f32[B, S, S]) -> f32[B, S, S] {
            softmax(select(index(axis = 2) <= index(axis = 1), x, -1e9))
        }
        pub fn embedded(t: f32[V, S], ids: i32[B]) -> f32[B] { sum(embedding(t, ids) * 0.5, axis = 1) }
        pub fn normed(t: f32[V, S], ids: i32[B], g: f32[S]) -> f32[B, S] { rms_norm(embedding(t, ids), g) }
        pub fn picked(x: f32[B, S], ids: i32[B]) -> f32[B] {
            sum(select(index(axis = 1) == unsqueeze(ids, axis = 1), x, 0.0), axis = 1)
        }
        pub fn dropped(x: f32[B, S], p: f32, seed: u32) -> f32[B, S] { dropout(softmax(x), p, seed) }";
    let mut sweep = Sweep::new("coordinates and takes");
    for program in compile(source) {
        for (seed, dims) in [[("B", 2), ("S", 5), ("V", 7)], [("B", 3), ("S", 64), ("V", 4)]].iter().enumerate() {
            let mut inputs = data::inputs(&program.graph, dims, seed as u64);
            for (param, input) in program.graph.params.iter().zip(&mut inputs) {
                if param.name == "p" {
                    input.data[0] = 0.25;
                }
            }
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}

#[test]
fn takes_in_pointwise_kernels_and_around_products() {
    let source = "
        pub fn rows(t: f32[V, D], ids: i32[B, S]) -> f32[B, S, D] { embedding(t, ids) + 1.0 }
        pub fn columns(t: f32[V, D], ids: i32[S]) -> f32[V, S] { gather(t, ids, axis = 1) }
        pub fn turned(t: f32[V, D]) -> f32[D, V] { transpose(flip(t, axis = 1)) }
        pub fn left(t: f32[V, D], ids: i32[S], w: f32[D, B]) -> f32[S, B] { matmul(embedding(t, ids), w) }
        pub fn right(t: f32[V, D], ids: i32[S], x: f32[B, D]) -> f32[B, S] { matmul(x, transpose(embedding(t, ids))) }
        pub fn after(t: f32[V, B], ids: i32[S], x: f32[S, D], w: f32[D, B]) -> f32[S, B] {
            matmul(x, w) + embedding(t, ids)
        }
        pub fn random(x: u32[B, S], seed: u32) -> f32[B, S] { dropout((x as f32) + 1.0, 0.5, seed) }";
    let sizes: [&[(&str, usize)]; 3] = [
        &[("V", 5), ("D", 7), ("B", 3), ("S", 6)],
        &[("V", 9), ("D", 40), ("B", 8), ("S", 36)],
        &[("V", 3), ("D", 4), ("B", 1), ("S", 65)],
    ];
    check("takes", source, &sizes);
}

#[test]
fn infinities_and_nan() {
    let source = "
        pub fn f(x: f32[M, N]) -> (f32[M], f32[M], f32[M], i32[M], i32[M]) {
            (sum(x, axis = 1), max(x, axis = 1), min(x, axis = 1), argmax(x, axis = 1), argmin(x, axis = 1))
        }
        pub fn down(x: f32[N, M]) -> (f32[M], f32[M], i32[M]) {
            (sum(x, axis = 0), min(x, axis = 0), argmax(x, axis = 0))
        }
        pub fn normed(x: f32[M, N]) -> f32[M, N] { softmax(x) }";
    let mut sweep = Sweep::new("infinities and NaN");
    for program in compile(source) {
        for n in [6, 40, 1028] {
            let dims = [("M", 4), ("N", n)];
            let mut inputs = data::inputs(&program.graph, &dims, 3);
            let x = &mut inputs[0];
            let columns = x.shape[1];
            let along_rows = columns == n;
            let at = |row: usize, i: usize| if along_rows { row * n + i } else { i * columns + row };
            x.data[at(0, n / 2)] = f64::INFINITY;
            x.data[at(1, n - 1)] = f64::NAN;
            (0..n).for_each(|i| x.data[at(2, i)] = f64::NEG_INFINITY);
            x.data[at(3, 0)] = f64::INFINITY;
            x.data[at(3, n - 2)] = f64::NEG_INFINITY;
            sweep.run(&program, &inputs);
        }
    }
    sweep.with_loose_numbers().finish();
}

#[test]
fn long_rows_are_split() {
    let source = "
        pub fn total(x: f32[M, N]) -> f32[M] { sum(x, axis = 1) }
        pub fn softened(x: f32[M, N]) -> f32[M, N] { softmax(x) }
        pub fn largest(x: f32[M, N]) -> (i32[M], f32[M], i32[M]) {
            (argmax(x, axis = 1), max(x, axis = 1), sum(x as i32, axis = 1))
        }
        pub fn down(x: f32[N, M]) -> (f32[M], i32[M]) { (sum(x, axis = 0), argmin(x, axis = 0)) }
        pub fn down_normed(x: f32[N, M]) -> f32[N, M] { softmax(x, axis = 0) }";
    let sizes: [&[(&str, usize)]; 3] = [&[("M", 1), ("N", 20_001)], &[("M", 4), ("N", 9000)], &[("M", 3), ("N", 2052)]];
    let programs = check("long rows", source, &sizes);
    assert_one_kernel(&programs);
    for program in &programs {
        let split = program.function.kernels[0].variants.iter().filter(|variant| variant.passes.len() > 1);
        assert!(split.count() >= 2, "{}", program.source());
    }
}

/// Ten million terms of about 1 with a small sum.
#[test]
fn ten_million_elements_that_cancel() {
    const COUNT: usize = 10_000_000;
    let program = &compile("pub fn total(x: f32[N]) -> f32 { sum(x) }")[0];
    let mut numbers = Numbers::new(7);
    let mut data: Vec<f64> =
        (0..COUNT / 2).map(|_| data::round(DType::F32, numbers.below(1 << 30) as f64 * 1e-9)).collect();
    data.extend(data.clone().iter().map(|x| -x));
    data[COUNT - 1] += 0.25;
    data[COUNT - 1] = data::round(DType::F32, data[COUNT - 1]);
    let (exact, magnitude) = (data.iter().sum::<f64>(), data.iter().map(|x| x.abs()).sum::<f64>());
    let bound = (2.0 * (COUNT as f64).log2().ceil() + 16.0) * f64::powi(2.0, -24) * magnitude;
    let input = Value { dtype: DType::F32, shape: vec![COUNT], data };
    for device in devices() {
        let arguments = Arguments::new(device, program, std::slice::from_ref(&input)).unwrap();
        let mut ran = 0;
        for choice in arguments.choices(program).unwrap() {
            // lavapipe ends an invocation's loops after 65 535 iterations in total.
            if choice.names[0].starts_with("rows ") && choice.names[0].ends_with(" streamed scalar") {
                continue;
            }
            let found = wait(arguments.launch(program, Some(&choice.indices))).unwrap()[0].data[0];
            assert!((found - exact).abs() <= bound, "{choice:?}: expected {exact} ± {bound}, found {found}");
            ran += 1;
        }
        assert!(ran >= 2, "only {ran} variants can sum ten million elements");
    }
}
