//! Contractions against the interpreter's ranges: every operand access and legal variant, fused on both sides, at sizes
//! below, at and beyond tiles.

use fuse_artifact::DType;
use fuse_test_support::{
    Program, Sweep, Variants, adapter::Arguments, check as check_variants, compile, data, devices,
};

const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::I32];

/// Below, at and beyond vectors, tiles and workgroups, for each of M, N and K.
const SIZES: [usize; 19] = [1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 64, 65, 100, 127, 128, 129, 0];

/// Covering set: row `i` takes the sizes at `i`, `3i + 1` and `7i + 2`. Each index visits every size because 19 is
/// prime; pairs differ in each column.
fn covering() -> Vec<[(&'static str, usize); 3]> {
    let size = |i: usize| SIZES[i % SIZES.len()];
    (0..SIZES.len()).map(|i| [("M", size(i)), ("N", size(3 * i + 1)), ("K", size(7 * i + 2))]).collect()
}

const FEW: &[[(&str, usize); 3]] = &[
    [("M", 1), ("N", 33), ("K", 65)],
    [("M", 17), ("N", 1), ("K", 31)],
    [("M", 5), ("N", 7), ("K", 3)],
    [("M", 64), ("N", 64), ("K", 32)],
    [("M", 65), ("N", 68), ("K", 36)],
    [("M", 4), ("N", 8), ("K", 0)],
];

fn check(what: &str, source: &str, sizes: &[[(&str, usize); 3]], batch: &[(&str, usize)]) -> Vec<Program> {
    let mut sweep = Sweep::new(what);
    let programs = compile(source);
    for program in &programs {
        for (seed, dims) in sizes.iter().enumerate() {
            let dims = [dims.as_slice(), batch].concat();
            sweep.run(program, &data::inputs(&program.graph, &dims, seed as u64));
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

#[test]
fn every_size() {
    let covering = covering();
    check("f32", "pub fn f(x: f32[M, K], y: f32[K, N]) -> f32[M, N] { matmul(x, y) }", &covering, &[]);
}

#[test]
fn every_size_f16() {
    let covering = covering();
    check("f16", "pub fn f(x: f16[M, K], y: f16[K, N]) -> f16[M, N] { matmul(x, y) }", &covering, &[]);
}

#[test]
fn one_row_in_whole_steps_and_not() {
    let source = "
        pub fn plain(x: f32[M, K], y: f32[K, N]) -> f32[M, N] { matmul(x, y) }
        pub fn half(x: f16[M, K], y: f16[K, N], b: f16[N]) -> f16[M, N] { relu(matmul(x, y) + b) }
        pub fn integers(x: i32[M, K], y: i32[K, N]) -> i32[M, N] { matmul(x, y) }
        pub fn prologues(x: f32[M, K], g: f32[K], y: f32[K, N]) -> f32[M, N] { matmul(gelu(x) * g, 2.0 * y) }
        pub fn batches(x: f32[3, M, K], y: f32[3, K, N]) -> f32[3, M, N] { matmul(x, y) }
        pub fn siblings(x: f32[M, K], y: f32[K, N], z: f32[K, N]) -> f32[M, N] { silu(matmul(x, y)) * matmul(x, z) }";
    let sizes = [[4, 8], [36, 264], [128, 1032], [68, 12], [8, 65]].map(|[n, k]| [("M", 1), ("N", n), ("K", k)]);
    let programs = check("one row", source, &sizes, &[]);
    for (size, whole) in [(&sizes[1], true), (&sizes[3], false)] {
        let inputs = data::inputs(&programs[0].graph, size, 1);
        let arguments = Arguments::new(&devices()[0], &programs[0], &inputs).unwrap();
        let choices = arguments.choices(&programs[0]).unwrap();
        let schedules = choices.iter().filter(|choice| choice.names.contains(&"gemv 1x32"));
        assert_eq!(schedules.count() > 0, whole, "{size:?}");
    }
}

#[test]
fn few_rows_share_what_is_read() {
    let source = "
        pub fn plain(x: f32[M, K], y: f32[K, N]) -> f32[M, N] { matmul(x, y) }
        pub fn transposed(x: f32[M, K], y: f32[N, K], r: f32[M, N]) -> f32[M, N] { matmul(x, transpose(y)) + r }
        pub fn half(x: f16[M, K], y: f16[K, N], b: f16[N]) -> f16[M, N] { relu(matmul(x, y) + b) }
        pub fn transposed_half(x: f16[M, K], y: f16[N, K]) -> f16[M, N] { matmul(x, transpose(y)) }
        pub fn integers(x: i32[M, K], y: i32[N, K]) -> i32[M, N] { matmul(x, transpose(y)) }
        pub fn prologues(x: f32[M, K], g: f32[K], y: f32[K, N]) -> f32[M, N] { matmul(gelu(x) * g, 2.0 * y) }
        pub fn batches(x: f32[3, M, K], y: f32[3, N, K]) -> f32[3, M, N] { matmul(x, transpose(y)) }
        pub fn siblings(x: f32[M, K], y: f32[K, N], z: f32[K, N]) -> f32[M, N] { silu(matmul(x, y)) * matmul(x, z) }
        pub fn three(x: f32[M, K], y: f32[N, K], z: f32[N, K], w: f32[N, K]) -> f32[M, N] {
            max(matmul(x, transpose(y)), matmul(x, transpose(z))) * matmul(x, transpose(w))
        }";
    // Up to eight rows with one product, four with two, two with three, and beyond.
    let sizes =
        [[2, 4, 8], [3, 36, 264], [4, 68, 1032], [5, 132, 16], [8, 12, 520], [9, 12, 16], [4, 7, 24], [4, 8, 12]];
    let sizes = sizes.map(|[m, n, k]| [("M", m), ("N", n), ("K", k)]);
    let programs = check("few rows", source, &sizes, &[]);
    let runs = |program: &Program, size, schedule: &str| {
        let inputs = data::inputs(&program.graph, size, 1);
        let arguments = Arguments::new(&devices()[0], program, &inputs).unwrap();
        let choices = arguments.choices(program).unwrap();
        choices.iter().any(|choice| choice.names.contains(&schedule))
    };
    let [plain, transposed, .., siblings, three] = &programs[..] else { panic!("nine functions") };
    for (program, schedule, most) in
        [(plain, "gemv 8x16", 8), (transposed, "gemv-t 8x16", 8), (siblings, "gemv 4x32", 4), (three, "gemv-t 2x16", 2)]
    {
        for size in &sizes {
            let [(_, m), (_, n), (_, k)] = *size;
            let fits = m <= most && n % 4 == 0 && k % 8 == 0;
            assert_eq!(runs(program, size, schedule), fits, "{schedule} of {size:?}");
        }
    }
}

#[test]
fn streams_share_all_depths() {
    let source = "
        pub fn plain(x: f32[M, K], y: f32[K, N]) -> f32[M, N] { matmul(x, y) }
        pub fn transposed(x: f32[M, K], y: f32[N, K], r: f32[M, N]) -> (f32[M, N], f32[M, N]) {
            let z = matmul(x, transpose(y)) + r;
            (z, relu(z))
        }
        pub fn half(x: f16[M, K], y: f16[K, N], r: f16[M, N]) -> f16[M, N] { matmul(x, y) + r }
        pub fn quantized(x: f16[M, K], w: q4[N, K], b: f16[N]) -> f16[M, N] { gelu(matmul(x, transpose(w)) + b) }
        pub fn batches(x: f32[3, K, M], y: f32[3, K, N]) -> f32[3, M, N] { matmul(transpose(x), y) }";
    for program in &compile(source) {
        for [m, n, k] in [[1, 4, 512], [130, 516, 288], [260, 516, 96], [132, 516, 64]] {
            let inputs = data::inputs(&program.graph, &[("M", m), ("N", n), ("K", k)], m as u64);
            if program.function.name == "batches" && m % 4 > 0 {
                continue;
            }
            check_variants(program, &inputs, Variants::Named("stream-k"))
                .unwrap_or_else(|error| panic!("{} {m}x{n}x{k}: {error}", program.function.name));
        }
    }
}

#[test]
fn every_size_i32() {
    let covering: Vec<_> = covering().into_iter().step_by(2).collect();
    check("i32", "pub fn f(x: i32[M, K], y: i32[K, N]) -> i32[M, N] { matmul(x, y) }", &covering, &[]);
}

#[test]
fn transposed_operands_cost_no_kernel() {
    for dtype in DTYPES {
        let source = format!(
            "pub fn left(x: {dtype}[K, M], y: {dtype}[K, N]) -> {dtype}[M, N] {{ matmul(transpose(x), y) }}
             pub fn right(x: {dtype}[M, K], y: {dtype}[N, K]) -> {dtype}[M, N] {{ matmul(x, transpose(y)) }}
             pub fn both(x: {dtype}[K, M], y: {dtype}[N, K]) -> {dtype}[M, N] {{ matmul(transpose(x), transpose(y)) }}"
        );
        assert_one_kernel(&check(&format!("transposed {dtype}"), &source, FEW, &[]));
    }
}

#[test]
fn batches_and_broadcast_batches() {
    let source = "
        pub fn equal(x: f32[B, M, K], y: f32[B, K, N]) -> f32[B, M, N] { matmul(x, y) }
        pub fn shared(x: f32[B, M, K], y: f32[K, N]) -> f32[B, M, N] { matmul(x, y) }
        pub fn left(x: f32[M, K], y: f32[B, K, N]) -> f32[B, M, N] { matmul(x, y) }
        pub fn two(x: f32[B, 1, M, K], y: f32[C, K, N]) -> f32[B, C, M, N] { matmul(x, y) }
        pub fn heads(q: f32[B, M, C, K], k: f32[B, N, C, K]) -> f32[B, C, M, N] {
            matmul(permute(q, [0, 2, 1, 3]), permute(k, [0, 2, 3, 1]))
        }";
    assert_one_kernel(&check("batched", source, &FEW[..5], &[("B", 3), ("C", 2)]));
    check("empty batch", source, &FEW[..1], &[("B", 0), ("C", 2)]);
    check("single batch", source, &FEW[2..3], &[("B", 1), ("C", 1)]);
    // Batches of a single row become rows, also for operands broadcast along rows.
    let source = "
        pub fn per_batch(x: f32[B, M, K], w: f32[K, N], c: f32[B, 1, N], d: f32[B, 1, K]) -> f32[B, M, N] {
            matmul(x + d, w) + c
        }";
    check("batches of one row", source, &FEW[..1], &[("B", 3)]);
}

#[test]
fn epilogues_are_fused() {
    for dtype in [DType::F32, DType::F16] {
        let source = format!(
            "pub fn linear(x: {dtype}[M, K], w: {dtype}[K, N], b: {dtype}[N], r: {dtype}[M, N]) -> {dtype}[M, N] {{
                relu(matmul(x, w) + b + r)
            }}
            pub fn column(x: {dtype}[M, K], w: {dtype}[K, N], c: {dtype}[M, 1], s: {dtype}) -> {dtype}[M, N] {{
                gelu(matmul(x, w) * s) / (abs(c) + 1.0)
            }}
            pub fn masked(x: {dtype}[M, K], w: {dtype}[K, N]) -> {dtype}[M, N] {{
                let y = matmul(x, w);
                select(index(y, axis = 0) >= index(y, axis = 1), y, -1.0)
            }}"
        );
        assert_one_kernel(&check(&format!("epilogue {dtype}"), &source, FEW, &[]));
    }
}

#[test]
fn several_results() {
    let source = "
        pub fn f(x: f32[M, K], w: f32[K, N], b: f32[N]) -> (f32[M, N], f32[M, N], bool[M, N]) {
            let y = matmul(x, w);
            (y, silu(y + b), y > b)
        }";
    assert_one_kernel(&check("several results", source, FEW, &[]));
}

#[test]
fn prologues_on_either_operand() {
    let source = "
        pub fn scaled(x: f32[M, K], w: f32[K, N], g: f32[K], s: f32) -> f32[M, N] { matmul(x * g, w * s) }
        pub fn activated(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, N] { matmul(gelu(x), w) + b }
        pub fn residual(x: f32[M, K], y: f32[M, K], w: f32[N, K]) -> f32[M, N] { matmul(relu(x + y), transpose(w)) }
        pub fn cast(x: f16[M, K], w: i32[K, N]) -> f32[M, N] { matmul(x as f32, w as f32) }
        pub fn repeated(x: f32[K], w: f32[K, N], m: f32[M, 1]) -> f32[M, N] { matmul(x * m, w) }
        pub fn sliced(x: f32[M, K], w: f32[200, N]) -> f32[M, N] {
            matmul(x, reshape(slice(w, axis = 0, start = 3, end = 4), [1, N]) * transpose(slice(x, axis = 0, start = 0, end = 1)))
        }";
    check("prologue", source, &FEW[..5], &[]);
}

#[test]
fn chains_of_matmuls() {
    let source = "
        pub fn ffn(x: f32[M, K], w: f32[N, K], b: f32[N], v: f32[K, N], c: f32[K]) -> f32[M, K] {
            matmul(gelu(matmul(x, transpose(w)) + b), transpose(v)) + c + x
        }
        pub fn gated(x: f32[M, K], w: f32[K, N], v: f32[K, N]) -> f32[M, N] { silu(matmul(x, w)) * matmul(x, v) }
        pub fn square(x: f32[M, M], n: f32[N], k: f32[K]) -> (f32[M, M], f32[N], f32[K]) { (matmul(x, matmul(x, x)), n + 1.0, -k) }";
    check("chain", source, FEW, &[]);
}

#[test]
fn chains_whose_products_stand_between_each_others() {
    let source = "
        pub fn crossed(x: f32[M, K], w: f32[K, N], z: f32[N, N], t: f32[K, K], s: f32[K, N]) -> f32[M, N] {
            let a = matmul(x, w);
            let p = matmul(x, t);
            let q = matmul(p, s);
            let b = matmul(a, z);
            b + q
        }
        pub fn unused(x: f32[M, K], w: f32[K, N], z: f32[N, N]) -> f32[M, N] {
            let a = matmul(x, w);
            let _unused = relu(a);
            matmul(a, z)
        }";
    check("crossed chains", source, FEW, &[]);
}

#[test]
fn a_long_depth_is_split() {
    let depths =
        [[("M", 1), ("N", 5), ("K", 4096)], [("M", 3), ("N", 33), ("K", 4096)], [("M", 32), ("N", 8), ("K", 4099)]];
    for dtype in DTYPES {
        let source = format!(
            "pub fn f(x: {dtype}[M, K], w: {dtype}[K, N], b: {dtype}[N]) -> {dtype}[M, N] {{ matmul(x, w) + b }}"
        );
        let mut sweep = Sweep::new(&format!("long depth {dtype}"));
        let programs = compile(&source);
        for (seed, dims) in depths.iter().enumerate() {
            let mut inputs = data::inputs(&programs[0].graph, dims, seed as u64);
            // Sums of coarse numbers are exact: lost or repeated terms show.
            inputs.iter_mut().flat_map(|input| &mut input.data).for_each(|x| *x = x.round());
            sweep.run(&programs[0], &inputs);
        }
        sweep.finish();
        let names: Vec<&str> = programs[0].function.kernels[0].variants.iter().map(|variant| &*variant.name).collect();
        assert!(
            programs[0].function.kernels[0].variants.iter().any(|v| v.passes.len() > 1),
            "no split variant in {names:?}"
        );
    }
}

#[test]
fn infinities_and_nan_stay_in_their_row_and_column() {
    let source = "pub fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }";
    let mut sweep = Sweep::new("special numbers");
    for program in compile(source) {
        for dims in [[("M", 5), ("N", 6), ("K", 7)], [("M", 33), ("N", 36), ("K", 40)], [("M", 1), ("N", 9), ("K", 70)]]
        {
            let mut inputs = data::inputs(&program.graph, &dims, 3);
            let last = inputs[0].data.len() - 1;
            inputs[0].data[0] = f64::INFINITY;
            inputs[0].data[last] = f64::NAN;
            inputs[1].data[3] = f64::NEG_INFINITY;
            sweep.run(&program, &inputs);
        }
    }
    sweep.finish();
}
