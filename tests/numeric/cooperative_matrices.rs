//! Products of `f16` in cooperative matrices, rewritten for software adapters (`fuse_test_support::matrices`). Adapters
//! that have them run them in the other suites.

use fuse_compiler::interp::run_bounded;
use fuse_runtime::Device;
use fuse_test_support::{Program, Sweep, adapter::Arguments, compare::compare, compile, data, devices, matrices, wait};

/// Below, at and beyond tiles, some shifted at the edge.
const SIZES: &[[(&str, usize); 3]] = &[
    [("M", 33), ("N", 68), ("K", 128)],
    [("M", 64), ("N", 64), ("K", 64)],
    [("M", 132), ("N", 128), ("K", 32)],
    [("M", 68), ("N", 36), ("K", 36)],
    [("M", 8), ("N", 12), ("K", 4)],
    [("M", 4), ("N", 8), ("K", 0)],
];

fn check(source: &str, batch: &[(&str, usize)]) -> Vec<Program> {
    let mut sweep = Sweep::new("cooperative matrices").sharing_variants(2);
    let programs: Vec<Program> = compile(source)
        .iter()
        .map(|program| matrices::in_software(program).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    for program in &programs {
        for (seed, dims) in SIZES.iter().enumerate() {
            let dims = [dims.as_slice(), batch].concat();
            sweep.run(program, &data::inputs(&program.graph, &dims, seed as u64));
        }
    }
    sweep.finish();
    programs
}

#[test]
fn every_direction_of_the_operands() {
    check(
        "pub fn plain(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x, w) }
         pub fn left(x: f16[K, M], w: f16[K, N]) -> f16[M, N] { matmul(transpose(x), w) }
         pub fn right(x: f16[M, K], w: f16[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }
         pub fn both(x: f16[K, M], w: f16[N, K]) -> f16[M, N] { matmul(transpose(x), transpose(w)) }",
        &[],
    );
}

#[test]
fn epilogues_and_batches() {
    check(
        "pub fn f(x: f16[B, M, K], w: f16[K, N], b: f16[N], r: f16[B, M, N]) -> f16[B, M, N] { relu(matmul(x, w) + b + r) }
         pub fn mixed(x: f16[M, K], w: f16[K, N], b: f32[N]) -> f32[M, N] { (matmul(x, w) as f32) * 2.0 + b }",
        &[("B", 3)],
    );
}

/// Weights are converted to `f16` while staged.
#[test]
fn quantized_weights() {
    let source = "
        pub fn four(x: f16[M, K], w: q4[K, N]) -> f16[M, N] { matmul(x, w) }
        pub fn three(x: f16[M, K], w: q3[N, K]) -> f16[M, N] { matmul(x, transpose(w)) }";
    let mut sweep = Sweep::new("quantized weights in cooperative matrices").sharing_variants(4);
    for program in &compile(source) {
        let program = matrices::in_software(program).unwrap_or_else(|error| panic!("{error}"));
        for (seed, dims) in SIZES[1..4].iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

/// Folded rows take the batch stride, whatever the literals say.
#[test]
fn folded_batches_of_literal_sizes() {
    let source = "
        pub fn moved(x: f16[M, 64, 64], w: f16[64, 64]) -> f16[64, M, 64] { matmul(permute(x, [1, 0, 2]), w) }
        pub fn whole(x: f16[64, M, 64], w: f16[64, 64]) -> f16[64, M, 64] { matmul(x, w) }
        pub fn part(x: f16[64, 3, 64], w: f16[64, 64]) -> f16[64, 1, 64] { matmul(slice(x, axis = 1, start = 1, end = 2), w) }";
    let mut sweep = Sweep::new("folded batches");
    for program in &compile(source) {
        let program = matrices::in_software(program).unwrap_or_else(|error| panic!("{error}"));
        for rows in [1, 2] {
            sweep.run(&program, &data::inputs(&program.graph, &[("M", rows)], rows as u64));
        }
    }
    sweep.finish();
}

/// All buffers are writable, and a tensor may still be several arguments.
#[test]
fn one_tensor_as_every_argument() {
    let source = "pub fn f(x: f16[M, M], w: f16[M, M], r: f16[M, M]) -> f16[M, M] { relu(matmul(x, w) + r) }";
    let program = matrices::in_software(&compile(source)[0]).unwrap_or_else(|error| panic!("{error}"));
    let inputs = vec![data::inputs(&program.graph, &[("M", 64)], 1).swap_remove(0); 3];
    for device in devices() {
        let expected = run_bounded(&program.graph, &inputs, program.stores(device.info())).unwrap();
        let arguments = Arguments::new(device, &program, &inputs).unwrap().with_one_tensor();
        let choices = arguments.choices(&program).unwrap();
        assert!(choices.iter().any(|choice| choice.names[0].contains("coop-matrix")), "{choices:?}");
        for choice in choices {
            let results = wait(arguments.launch(&program, Some(&choice.indices))).unwrap();
            compare(&expected, &results).unwrap_or_else(|error| panic!("{:?}: {error}", choice.names));
        }
    }
}

#[test]
fn products_that_share_an_operand() {
    let gate =
        "pub fn gate(x: f16[M, K], g: f16[K, N], u: f16[K, N]) -> f16[M, N] { silu(matmul(x, g)) * matmul(x, u) }";
    let apart =
        "pub fn apart(x: f16[M, K], q: f16[K, N], k: f16[K, N], v: f16[K, N]) -> (f16[M, N], f16[M, N], f16[M, N]) {
        (matmul(x, q), relu(matmul(x, k)), matmul(x, v))
    }";
    for source in [gate, apart] {
        let programs = check(source, &[]);
        assert_eq!(programs[0].function.kernels.len(), 1, "{}", programs[0].function.plan);
    }
}

const ATTENTIONS: &[[(&str, usize); 3]] = &[
    [("B", 2), ("M", 128), ("N", 32)],
    [("B", 1), ("M", 150), ("N", 71)],
    [("B", 2), ("M", 64), ("N", 1)],
    [("B", 1), ("M", 67), ("N", 130)],
];

const GRADIENTS: &[[(&str, usize); 3]] =
    &[[("B", 2), ("M", 128), ("N", 64)], [("B", 1), ("M", 67), ("N", 135)], [("B", 1), ("M", 130), ("N", 65)]];

/// Products and sums of one tensor share its staging. Ranges of `f16` are too wide for 64 columns: only exact results
/// are compared.
#[test]
fn gradients_of_attention() {
    let gradient = |name: &str, head: u32, scores: &str| {
        let ty = |rows: &str| format!("f16[B, {rows}, {head}]");
        let (m, n) = (ty("M"), ty("N"));
        format!(
            "pub fn {name}(q: {m}, k: {n}, v: {n}, c: {m}) -> ({m}, {n}, {n}) {{
                let s = matmul(q, transpose(k)) * 0.125;
                grad(matmul(softmax({scores}), v), wrt = [q, k, v], cotangent = c)
            }}"
        )
    };
    let causal = gradient("causal", 32, "select(index(s, axis = 2) <= index(s, axis = 1), s, -inf)");
    let source = [gradient("plain", 32, "s"), causal.replace(", N,", ", M,"), gradient("wide", 64, "s")];
    let mut sweep = Sweep::new("gradients in cooperative matrices").with_loose_numbers();
    for program in &compile(&source.join("\n")) {
        let program = matrices::in_software(program).unwrap_or_else(|error| panic!("{error}"));
        for (seed, dims) in GRADIENTS.iter().enumerate() {
            let inputs = data::inputs(&program.graph, dims, seed as u64);
            if program.graph.name != "wide" {
                sweep.run(&program, &inputs);
            }
            crate::attention_gradient::assert_close(&program, &inputs);
        }
    }
    sweep.finish();
}

fn check_attention(source: &str) {
    let mut sweep = Sweep::new("attention in cooperative matrices");
    for program in &compile(source) {
        let program = matrices::in_software(program).unwrap_or_else(|error| panic!("{error}"));
        for (seed, dims) in ATTENTIONS.iter().enumerate() {
            sweep.run(&program, &data::inputs(&program.graph, dims, seed as u64));
        }
    }
    sweep.finish();
}

#[test]
fn attention() {
    check_attention(
        "pub fn plain(q: f16[B, M, 32], k: f16[B, N, 32], v: f16[B, N, 32]) -> f16[B, M, 32] {
            matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
        }",
    );
}

/// Slices of a literal number of keys need no clamping.
#[test]
fn attention_to_whole_slices() {
    check_attention(
        "pub fn whole(q: f16[B, M, 32], k: f16[B, 128, 32], v: f16[B, 128, 32]) -> f16[B, M, 32] {
            matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
        }",
    );
}

/// Scores of hundreds rescale accumulators while other rows of the workgroup keep theirs.
#[test]
fn attention_with_growing_scores() {
    check_attention(
        "pub fn growing(q: f16[B, M, 16], k: f16[B, N, 16], v: f16[B, N, 16]) -> f16[B, M, 16] {
            matmul(softmax((matmul(q, transpose(k)) as f32) * 10.0) as f16, v)
        }",
    );
}

#[test]
fn masked_attention() {
    check_attention(
        "pub fn causal(q: f16[B, M, 32], k: f16[B, N, 32], v: f16[B, N, 16], bias: f16[M, N]) -> f32[B, M, 16] {
            let scores = (matmul(q, transpose(k)) + bias) as f32;
            let seen = select(index(axis = 1) <= index(axis = 0), scores, -1.0 / 0.0);
            matmul(softmax(seen) as f16, v) as f32
        }",
    );
}

#[test]
fn attention_with_sums_of_rows() {
    check_attention(
        "pub fn sums(q: f16[B, M, 32], k: f16[B, N, 32], v: f16[B, N, 32]) -> (f16[B, M, 32], f32[B, M, 1], f32[B, M, 1]) {
            let s = matmul(q, transpose(k)) * 0.125;
            let m = max(s, axis = 2, keepdim = true);
            let e = exp(s - m);
            let l = sum(e, axis = 2, keepdim = true);
            (matmul(e / l, v), m as f32, recip(l as f32))
        }",
    );
}

fn uses_matrices(source: &str) -> bool {
    let function = compile(source)[0].function;
    function.kernels.iter().flat_map(|kernel| kernel.variants.iter()).any(|variant| variant.features.coop_matrix > 0)
}

#[test]
fn only_stored_f16_is_multiplied_in_matrices() {
    assert!(uses_matrices("pub fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x, w) }"));
    assert!(!uses_matrices("pub fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }"));
    // An operand computed in `f32` would be rounded for a matrix.
    assert!(!uses_matrices("pub fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x * 0.3, w) }"));
}

#[test]
fn adapters_without_matrices_refuse_their_variants() {
    let device = Device::builder().without_cooperative_matrices().build_blocking().unwrap();
    assert_eq!(device.info().features.coop_matrix, 0);
    let program = &compile("pub fn f(x: f16[M, K], w: f16[K, N]) -> f16[M, N] { matmul(x, w) }")[0];
    let explanation = device.explain(program.function, &[&[64, 64], &[64, 64]]).unwrap();
    let (_, verdict) = &explanation.kernels[0].variants[0];
    assert!(verdict.as_ref().unwrap_err().contains("cooperative matrices"), "{explanation}");
}
