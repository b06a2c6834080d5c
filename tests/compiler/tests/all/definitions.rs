//! The interpreter against PyTorch in float64 (`tests/data/reference.json`, written by `reference.py`). Kernels are
//! compared with the interpreter elsewhere.

use std::collections::BTreeSet;

use fuse_artifact::DType;
use fuse_compiler::interp::{Stores, Value, run, run_bounded};
use fuse_test_support::graphs;
use serde_json::Value as Json;

/// The interpreter rounds literals and results to `f32`; a literal's rounding may enter several times (weight decay,
/// `eps`).
const RELATIVE: f64 = 1e-6;

/// PyTorch's `gelu` adds 1 and an `erf` near -1: its values below 0 have an absolute error of about 2^-53.
const ABSOLUTE: f64 = 1e-14;

/// Program of each case: parameters named as its inputs, results in the order of `outputs`.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    ("softmax", &["y"], "f(x: f32[M, N]) -> f32[M, N] { softmax(x) }"),
    ("log_softmax", &["y"], "f(x: f32[M, N]) -> f32[M, N] { log_softmax(x) }"),
    ("softmax_wide", &["y", "log"], "f(x: f32[M, N]) -> (f32[M, N], f32[M, N]) { (softmax(x), log_softmax(x)) }"),
    ("softmax_axis_1", &["y"], "f(x: f32[A, B, C]) -> f32[A, B, C] { softmax(x, axis = 1) }"),
    ("logsumexp", &["y"], "f(x: f32[M, N]) -> f32[M] { logsumexp(x, axis = 1) }"),
    ("var", &["y"], "f(x: f32[M, N]) -> f32[M] { var(x, axis = N) }"),
    ("var_unbiased", &["y"], "f(x: f32[M, N]) -> f32[M] { var(x, axis = N, correction = 1) }"),
    ("var_offset", &["y"], "f(x: f32[M, N]) -> f32[M] { var(x, axis = -1) }"),
    (
        "layer_norm",
        &["y"],
        "f(x: f32[M, N], gamma: f32[N], beta: f32[N]) -> f32[M, N] { layer_norm(x, gamma, beta, eps = 1e-5) }",
    ),
    ("rms_norm", &["y"], "f(x: f32[M, N], gamma: f32[N]) -> f32[M, N] { rms_norm(x, gamma, eps = 1e-6) }"),
    (
        "batch_norm",
        &["y"],
        "f(x: f32[B, C, N], mean: f32[C], var: f32[C], gamma: f32[C], beta: f32[C]) -> f32[B, C, N] {
            batch_norm(x, mean, var, gamma, beta, eps = 1e-5)
        }",
    ),
    (
        "group_norm",
        &["y"],
        "f(x: f32[B, C, N], gamma: f32[C], beta: f32[C]) -> f32[B, C, N] {
            group_norm(x, gamma, beta, groups = 2, eps = 1e-5)
        }",
    ),
    ("gelu", &["y", "tanh"], "f(x: f32[N]) -> (f32[N], f32[N]) { (gelu(x), gelu_tanh(x)) }"),
    ("silu", &["y"], "f(x: f32[N]) -> f32[N] { silu(x) }"),
    ("swiglu", &["y"], "f(gate: f32[M, N], up: f32[M, N]) -> f32[M, N] { silu(gate) * up }"),
    ("geglu", &["y"], "f(gate: f32[M, N], up: f32[M, N]) -> f32[M, N] { gelu(gate) * up }"),
    (
        "swiglu_linear",
        &["y"],
        "f(x: f32[M, K], w_gate: f32[K, N], w_up: f32[K, N]) -> f32[M, N] { silu(matmul(x, w_gate)) * matmul(x, w_up) }",
    ),
    (
        "geglu_linear",
        &["y"],
        "f(x: f32[M, K], w_gate: f32[K, N], w_up: f32[K, N]) -> f32[M, N] { gelu(matmul(x, w_gate)) * matmul(x, w_up) }",
    ),
    (
        "attention",
        &["y"],
        "f(q: f32[B, H, M, D], k: f32[B, H, N, D], v: f32[B, H, N, E]) -> f32[B, H, M, E] {
            matmul(softmax(matmul(q, transpose(k)) * 0.5), v)
        }",
    ),
    (
        "attention_causal",
        &["y"],
        "f(q: f32[B, H, M, D], k: f32[B, H, M, D], v: f32[B, H, M, E]) -> f32[B, H, M, E] {
            let score = matmul(q, transpose(k)) * 0.5;
            let visible = index(score, axis = 3) <= index(score, axis = 2);
            matmul(softmax(select(visible, score, -1.0 / 0.0)), v)
        }",
    ),
    (
        "attention_window",
        &["y"],
        "f(q: f32[B, H, M, D], k: f32[B, H, M, D], v: f32[B, H, M, E]) -> f32[B, H, M, E] {
            let score = matmul(q, transpose(k)) * 0.5;
            let i = index(score, axis = 2);
            let j = index(score, axis = 3);
            matmul(softmax(select(j <= i && j > i - 2, score, -1.0 / 0.0)), v)
        }",
    ),
    (
        "attention_alibi",
        &["y"],
        "f(q: f32[B, H, M, D], k: f32[B, H, M, D], v: f32[B, H, M, E], slopes: f32[H]) -> f32[B, H, M, E] {
            let score = matmul(q, transpose(k)) * 0.5;
            let i = index(score, axis = 2);
            let j = index(score, axis = 3);
            let biased = score + reshape(slopes, [H, 1, 1]) * (j - i) as f32;
            matmul(softmax(select(j <= i, biased, -1.0 / 0.0)), v)
        }",
    ),
    (
        "attention_gqa",
        &["y"],
        "f(q: f32[B, 4, M, D], k: f32[B, 2, N, D], v: f32[B, 2, N, E]) -> f32[B, 4, M, E] {
            let heads = reshape(q, [B, 2, 2, M, D]);
            let keys = unsqueeze(k, axis = 2);
            let weights = softmax(matmul(heads, transpose(keys)) * 0.5);
            reshape(matmul(weights, unsqueeze(v, axis = 2)), [B, 4, M, E])
        }",
    ),
    (
        "cross_entropy",
        &["loss"],
        "f(logits: f32[M, 5], target: i32[M]) -> f32[] {
            -mean(sum(one_hot(target, classes = 5) * log_softmax(logits), axis = 1))
        }",
    ),
    ("mse", &["loss"], "f(x: f32[M, N], y: f32[M, N]) -> f32[] { let d = x - y; mean(d * d) }"),
    (
        "cosine_similarity",
        &["similarity"],
        "f(x: f32[M, N], y: f32[M, N]) -> f32[M] {
            sum(x * y, axis = 1) / (sqrt(sum(x * x, axis = 1)) * sqrt(sum(y * y, axis = 1)))
        }",
    ),
    (
        "sgd",
        &["p", "velocity"],
        "f(p: f32[N], velocity: f32[N], g: f32[N]) -> (f32[N], f32[N]) {
            let v = 0.875 * velocity + (g + 0.0625 * p);
            (p - 0.125 * v, v)
        }",
    ),
    (
        "sgd_nesterov",
        &["p", "velocity"],
        "f(p: f32[N], velocity: f32[N], g: f32[N]) -> (f32[N], f32[N]) {
            let d = g + 0.0625 * p;
            let v = 0.875 * velocity + d;
            (p - 0.125 * (d + 0.875 * v), v)
        }",
    ),
    (
        // 1 - 0.9^3 and 1 - 0.999^3.
        "adamw",
        &["p", "m", "v"],
        "f(p: f32[N], m: f32[N], v: f32[N], g: f32[N]) -> (f32[N], f32[N], f32[N]) {
            let m = 0.9 * m + 0.1 * g;
            let v = 0.999 * v + 0.001 * g * g;
            let step = (m / 0.271) / (sqrt(v / 0.002997001) + 1e-8);
            (p * (1.0 - 0.0078125 * 0.0625) - 0.0078125 * step, m, v)
        }",
    ),
    (
        "mean_pool",
        &["mean", "y"],
        "f(h: f32[B, S, D], lengths: i32[B]) -> (f32[B, D], f32[B, D]) {
            let mask = index(h, axis = 1) < reshape(lengths, [B, 1, 1]);
            let mean = sum(select(mask, h, 0.0), axis = S) / unsqueeze(lengths as f32, axis = 1);
            (mean, mean / sqrt(sum(mean * mean, axis = D, keepdim = true)))
        }",
    ),
];

fn tensor(json: &Json, dtype: DType) -> Value {
    let numbers = |key: &str| json[key].as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number"));
    let shape: Vec<usize> = numbers("shape").map(|x| x as usize).collect();
    Value::from_data(dtype, &shape, numbers("data").collect()).expect("as many numbers as the shape says")
}

fn cases() -> Vec<Json> {
    let file: Json = serde_json::from_str(include_str!("../../../data/reference.json")).expect("valid JSON");
    file["cases"].as_array().expect("a list of cases").clone()
}

#[test]
fn every_case_has_a_program() {
    let cases = cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case["name"].as_str().expect("a name")).collect();
    let programs: BTreeSet<&str> = PROGRAMS.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, programs);
}

#[test]
fn the_interpreter_agrees_with_pytorch() {
    let mut failures = vec![];
    for case in cases() {
        let name = case["name"].as_str().expect("a name");
        let (_, outputs, source) = PROGRAMS.iter().find(|(program, ..)| *program == name).expect("a program");
        let graph = graphs(&format!("pub fn {source}")).unwrap_or_else(|error| panic!("{name}: {error}")).remove(0);
        let input = |param: &fuse_compiler::graph::Param| tensor(&case["inputs"][&param.name], param.ty.dtype);
        let inputs: Vec<Value> = graph.params.iter().map(input).collect();
        assert_eq!(inputs.len(), case["inputs"].as_object().expect("inputs").len(), "{name}: an input is not used");
        let found = run(&graph, &inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ranges = run_bounded(&graph, &inputs, Stores::EveryNode).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(outputs.len(), case["outputs"].as_object().expect("outputs").len(), "{name}: a result is missing");
        for ((output, found), range) in outputs.iter().zip(&found).zip(&ranges) {
            let expected = tensor(&case["outputs"][output], DType::F32);
            assert_eq!(expected.shape, found.shape, "{name}: shape of `{output}`");
            for (i, ((&expected, &found), range)) in expected.data.iter().zip(&found.data).zip(&range.data).enumerate()
            {
                if (found - expected).abs() > RELATIVE * expected.abs() + ABSOLUTE || !range.admits(found) {
                    failures
                        .push(format!("{name}, `{output}`[{i}]: expected {expected:e}, found {found:e}, {range:?}"));
                }
                if range.is_loose(1e-3) {
                    failures.push(format!("{name}, `{output}`[{i}]: {range:?} says little"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
