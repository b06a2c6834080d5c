//! Gradients of attention against the interpreter's ranges: no plan stores scores; every legal variant, at sizes below,
//! at and beyond tiles.

use fuse_compiler::interp::run_exact;
use fuse_test_support::{Program, Sweep, Value, adapter::Arguments, compile, data, devices, wait};

type Dims<'a> = &'a [(&'a str, usize)];

/// Queries M and keys N: one row, few, primes, exact tiles, and beyond.
const SIZES: &[Dims<'_>] = &[
    &[("B", 2), ("M", 1), ("N", 1)],
    &[("B", 1), ("M", 1), ("N", 67)],
    &[("B", 2), ("M", 3), ("N", 5)],
    &[("B", 1), ("M", 64), ("N", 64)],
    &[("B", 1), ("M", 37), ("N", 32)],
    &[("B", 1), ("M", 132), ("N", 71)],
];

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

/// For `scores` of the products `s`.
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

#[test]
fn large_heads() {
    let heads = [[128, 128], [256, 200], [96, 5]];
    let source = heads.map(|head| gradient(&format!("head_{}_{}", head[0], head[1]), "f32", head, "", "s * 0.0625"));
    check(Sweep::new("large heads").sharing_variants(2), &source.join("\n"), &[SIZES[1], SIZES[4]]);
}

/// Head sizes known only at launch; too large heads still run.
#[test]
fn heads_known_at_launch() {
    let source = "pub fn f(q: f32[B, M, D], k: f32[B, N, D], v: f32[B, N, E], c: f32[B, M, E])
        -> (f32[B, M, D], f32[B, N, D], f32[B, N, E]) {
            let s = matmul(q, transpose(k)) * 0.125;
            grad(matmul(softmax(s), v), wrt = [q, k, v], cotangent = c)
        }";
    let sizes: &[Dims<'_>] = &[
        &[("B", 2), ("M", 5), ("N", 70), ("D", 7), ("E", 3)],
        &[("B", 1), ("M", 36), ("N", 68), ("D", 64), ("E", 32)],
        &[("B", 1), ("M", 7), ("N", 33), ("D", 128), ("E", 256)],
        &[("B", 1), ("M", 3), ("N", 9), ("D", 300), ("E", 16)],
        &[("B", 2), ("M", 3), ("N", 9), ("D", 0), ("E", 4)],
        &[("B", 2), ("M", 3), ("N", 9), ("D", 4), ("E", 1)],
    ];
    let mut sweep = Sweep::new("symbolic heads").sharing_variants(4);
    for program in &compile(source) {
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn nothing_in_one_dimension() {
    let sizes: &[Dims<'_>] =
        &[&[("B", 0), ("M", 3), ("N", 5)], &[("B", 2), ("M", 0), ("N", 5)], &[("B", 2), ("M", 3), ("N", 0)]];
    check(Sweep::new("empty"), &gradient("f", "f32", [8, 8], "", "s"), sizes);
}

/// Ranges of `f16` are wide after cancellation: compares with exact results, too.
#[test]
fn f16_heads() {
    let source = [
        gradient("f", "f16", [32, 16], "", "s * 0.125"),
        gradient("small", "f16", [8, 8], "", "s * 0.25"),
        gradient("wide", "f16", [32, 32], "", "(s as f32) * 0.125").replace("* 0.125)", "* 0.125) as f16"),
    ];
    let mut sweep = Sweep::new("f16").sharing_variants(2).with_loose_numbers();
    for program in &compile(&source.join("\n")) {
        assert_fused(program);
        for (seed, dims) in SIZES.iter().enumerate() {
            let inputs = data::inputs(&program.graph, dims, seed as u64);
            sweep.run(program, &inputs);
            assert_close(program, &inputs);
        }
    }
    sweep.finish();
}

/// Within a hundredth of the exact result's largest element, for every choice of variants.
pub(crate) fn assert_close(program: &Program, inputs: &[Value]) {
    let expected = run_exact(&program.graph, inputs).expect("the interpreter");
    for device in devices() {
        let arguments = Arguments::new(device, program, inputs).expect("inputs on a device");
        for choice in arguments.choices(program).expect("variants") {
            let found = wait(arguments.launch(program, Some(&choice.indices))).expect("results");
            for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let largest = expected.data.iter().fold(0.1f64, |most, x| most.max(x.abs()));
                let apart = found.data.iter().zip(&expected.data).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let what = (&program.graph.name, number, &choice.names);
                assert!(apart <= 0.01 * largest, "{what:?}: {apart} apart, the largest is {largest}");
            }
        }
    }
}

/// Includes rows that see no key and have weights of 0.
#[test]
fn masks() {
    let masked = |name: &str, parameters: &str, condition: &str| {
        gradient(name, "f32", [16, 16], parameters, &format!("select({condition}, s * 0.25, -inf)"))
    };
    let (row, key) = ("index(s, axis = 1)", "index(s, axis = 2)");
    let source = [
        masked("causal", "", &format!("{key} <= {row}")),
        masked("window", "", &format!("{key} <= {row} && {key} > {row} - 19")),
        masked("lengths", ", n: i32[B, 1, 1]", &format!("{key} < abs(n) + 1")),
        masked("even", "", &format!("{key} % 2 == 0")),
        masked("lowest", ", m: bool[M, N]", "m").replace("-inf", "-3e38"),
        masked("hidden", ", m: bool[M, N]", "m"),
        masked("before", "", &format!("{key} < {row}")),
    ];
    let sizes: &[Dims<'_>] =
        &[&[("B", 2), ("M", 7), ("N", 7)], &[("B", 2), ("M", 132), ("N", 132)], &[("B", 1), ("M", 101), ("N", 101)]];
    check(Sweep::new("masks").sharing_variants(2), &source.join("\n"), sizes);
}

#[test]
fn functions_of_scores() {
    let source = [
        gradient("soft_capped", "f32", [8, 8], ", cap: f32", "(abs(cap) + 1.0) * tanh(s / (abs(cap) + 1.0))"),
        gradient("biased", "f32", [8, 8], ", bias: f32[B, M, N]", "s * 0.25 + bias"),
        gradient("biased_rows", "f32", [8, 8], ", bias: f32[M, 1]", "s * 0.25 + bias"),
        gradient("biased_keys", "f32", [8, 8], ", bias: f32[1, N]", "s * bias * 0.1"),
        gradient(
            "linear_bias",
            "f32",
            [8, 8],
            ", slope: f32[B, 1, 1]",
            "s * 0.25 + ((index(s, axis = 2) - index(s, axis = 1)) as f32) * slope * 0.01",
        ),
        gradient("squared", "f32", [8, 8], "", "s * s * 0.01 - s"),
    ];
    check(Sweep::new("functions of scores").sharing_variants(2), &source.join("\n"), &SIZES[1..]);
}

#[test]
fn layouts_and_work_around() {
    let source = "
        pub fn grouped(q: f32[B, H, G, M, 8], k: f32[B, H, 1, N, 8], v: f32[B, H, 1, N, 8], c: f32[B, H, G, M, 8])
            -> (f32[B, H, G, M, 8], f32[B, H, 1, N, 8], f32[B, H, 1, N, 8]) {
            let y = matmul(softmax(matmul(q, transpose(k)) * 0.25), v);
            grad(y, wrt = [q, k, v], cotangent = c)
        }
        pub fn heads(q: f32[B, M, H, 8], k: f32[B, N, H, 8], v: f32[B, N, H, 8], c: f32[B, M, H, 8])
            -> (f32[B, M, H, 8], f32[B, N, H, 8], f32[B, N, H, 8]) {
            let s = matmul(permute(q, [0, 2, 1, 3]), permute(k, [0, 2, 3, 1])) * 0.25;
            let y = permute(matmul(softmax(s), permute(v, [0, 2, 1, 3])), [0, 2, 1, 3]);
            grad(y, wrt = [q, k, v], cotangent = c)
        }
        pub fn transposed(q: f32[B, 8, M], k: f32[B, 8, N], v: f32[B, 8, N], c: f32[B, M, 8])
            -> (f32[B, 8, M], f32[B, 8, N], f32[B, 8, N]) {
            grad(matmul(softmax(matmul(transpose(q), k)), transpose(v)), wrt = [q, k, v], cotangent = c)
        }
        pub fn prologues(q: f32[M, 8], k: f32[N, 8], v: f32[N, 8], s: f32[8], c: f32[M, 8])
            -> (f32[M, 8], f32[N, 8], f32[N, 8]) {
            grad(matmul(softmax(matmul(q * s, transpose(k * 0.25))), relu(v)), wrt = [q, k, v], cotangent = c)
        }
        pub fn epilogues(q: f32[M, 8], k: f32[N, 8], v: f32[N, 8], g: f32[8], c: f32[M, 8])
            -> (f32[M, 8], f32[N, 8], f32[N, 8]) {
            let y = sigmoid(matmul(softmax(matmul(q, transpose(k)) * 0.25), v) * g);
            grad(y, wrt = [q, k, v], cotangent = c)
        }
        pub fn tied(x: f32[M, 8], c: f32[M, 8]) -> f32[M, 8] {
            grad(matmul(softmax(matmul(x, transpose(x)) * 0.25), x), wrt = x, cotangent = c)
        }
        pub fn values_alone(q: f32[M, 8], k: f32[N, 8], v: f32[N, 8], c: f32[M, 8]) -> f32[N, 8] {
            grad(matmul(softmax(matmul(q, transpose(k)) * 0.25), v), wrt = v, cotangent = c)
        }";
    let sizes: &[Dims<'_>] = &[
        &[("B", 2), ("H", 2), ("G", 3), ("M", 5), ("N", 7)],
        &[("B", 1), ("H", 3), ("G", 2), ("M", 1), ("N", 136)],
        &[("B", 1), ("H", 1), ("G", 2), ("M", 68), ("N", 40)],
    ];
    let mut sweep = Sweep::new("layouts").sharing_variants(2);
    for program in &compile(source) {
        for plan in program.plans() {
            let kinds: Vec<&str> = plan.plan.groups.iter().map(|group| group.kind.as_ref()).collect();
            assert!(!kinds.contains(&"contraction"), "{kinds:?}\n{}", plan.plan);
        }
        for (seed, dims) in sizes.iter().enumerate() {
            sweep.run(program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn special_numbers() {
    let mut sweep = Sweep::new("special numbers").with_loose_numbers();
    for program in compile(&gradient("f", "f32", [4, 4], "", "s")) {
        for (which, special) in [1e-30, 30.0, 300.0, 1e4, f64::NAN].into_iter().enumerate() {
            for place in 0..4 {
                let mut inputs = data::inputs(&program.graph, &[("B", 1), ("M", 9), ("N", 77)], which as u64);
                inputs[place].data[4 * which] = special;
                sweep.run(&program, &inputs);
            }
        }
    }
    sweep.finish();
}

#[test]
fn many_keys() {
    let sizes: &[Dims<'_>] = &[&[("B", 1), ("M", 4), ("N", 1031)], &[("B", 1), ("M", 769), ("N", 36)]];
    let source = [
        gradient("whole", "f32", [32, 32], "", "s * 0.125"),
        gradient("seen", "f32", [32, 32], "", "select(index(s, axis = 2) < 700, s * 0.125, -inf)"),
    ];
    check(Sweep::new("many keys"), &source.join("\n"), sizes);
}

#[test]
fn sums_of_rows_beside_the_output() {
    let source = "pub fn f<T: Float>(q: T[B, M, 16], k: T[B, N, 16], v: T[B, N, 16]) -> (T[B, M, 16], f32[B, M, 1], f32[B, M, 1]) {
        let s = matmul(q, transpose(k)) * (0.25 as T);
        let m = max(s, axis = 2, keepdim = true);
        let e = exp(s - m);
        let l = sum(e, axis = 2, keepdim = true);
        (matmul(e / l, v), m as f32, recip(l as f32))
    }";
    let mut sweep = Sweep::new("sums of rows");
    for program in &compile(source) {
        assert_eq!(program.function.kernels.len(), 1, "{}", program.function.plan);
        let sizes = [[1, 1], [5, 7], [64, 64], [67, 71], [3, 1031], [3, 0]];
        for (seed, [m, n]) in sizes.into_iter().enumerate() {
            let dims = [("B", 2), ("M", m), ("N", n)];
            sweep.run(program, &data::inputs(&program.graph, &dims, seed as u64));
        }
    }
    sweep.finish();
}
