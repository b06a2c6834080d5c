//! Compile time of run-time functions: from source to artifact, without validation (wgpu's) and dumps. `cold` is the
//! first compilation, the others are medians of nine.
//!
//! `cargo bench -p fuse-compiler --bench first` fails beyond targets for two cores.

use std::{
    iter,
    process::ExitCode,
    time::{Duration, Instant},
};

use fuse_artifact::{Features, Function, Kernel};
use fuse_compiler::{
    compile::{Options, compile, plans},
    front,
};
use proc_macro2::TokenStream;

/// After an untimed run.
const RUNS: usize = 9;

/// Name, source, target in milliseconds for one device.
const PROGRAMS: &[(&str, &str, f64)] = &[
    ("pointwise", "fn f(a: f32[M, N], b: f32[N], c: f32[M, N]) -> f32[M, N] { sigmoid(a * b + c) }", 3.0),
    (
        "product",
        "fn f(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] { relu(matmul(x, w) + b + r) }",
        12.0,
    ),
    ("encoder layer", ENCODER_LAYER, 80.0),
];

/// From README.md.
const ENCODER_LAYER: &str = "
    fn linear(x: f32[B, S, K], w: f32[N, K], b: f32[N]) -> f32[B, S, N] { matmul(x, transpose(w)) + b }
    fn heads(x: f32[B, S, 384]) -> f32[B, 12, S, 32] { permute(reshape(x, [B, S, 12, 32]), [0, 2, 1, 3]) }
    pub fn encoder_layer(
        h: f32[B, S, 384], lengths: i32[B],
        wq: f32[384, 384], bq: f32[384], wk: f32[384, 384], bk: f32[384], wv: f32[384, 384], bv: f32[384],
        wo: f32[384, 384], bo: f32[384], g1: f32[384], c1: f32[384],
        w1: f32[1536, 384], b1: f32[1536], w2: f32[384, 1536], b2: f32[384], g2: f32[384], c2: f32[384],
    ) -> f32[B, S, 384] {
        let (q, k, v) = (heads(linear(h, wq, bq)), heads(linear(h, wk, bk)), heads(linear(h, wv, bv)));
        let scores = matmul(q, transpose(k)) / sqrt(32.0);
        let visible = index(scores, axis = 3) < reshape(lengths, [B, 1, 1, 1]);
        let context = matmul(softmax(select(visible, scores, -inf)), v);
        let merged = reshape(permute(context, [0, 2, 1, 3]), [B, S, 384]);
        let a = layer_norm(linear(merged, wo, bo) + h, g1, c1, eps = 1e-12);
        layer_norm(linear(gelu(linear(a, w1, b1)), w2, b2) + a, g2, c2, eps = 1e-12)
    }";

fn main() -> ExitCode {
    let none = Features { f16: false, subgroups: 0, coop_matrix: 0, int8_activations: false };
    let subgroups = Features { subgroups: 32, ..none };
    let all = Features { f16: true, subgroups: 32, coop_matrix: 16, int8_activations: true };
    println!(
        "{:14} {:15} {:>6} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7} {:>5}",
        "ms", "device", "passes", "kB", "front", "plans", "texts", "cold", "all", "goal"
    );
    let mut within = true;
    for (name, source, goal) in PROGRAMS {
        let devices = [("plain", Some(none)), ("subgroups", Some(subgroups)), ("all features", Some(all))];
        for (device, features) in devices {
            let options = options(features, false);
            within &= measured(name, device, source, &options, Some(*goal));
        }
        // As during a crate's build, without validation.
        measured(name, "any, with dump", source, &options(None, true), None);
        #[cfg(feature = "validate")]
        validated(name, source);
    }
    // `cargo test --benches` runs this unoptimized, without `--bench`.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    if within || !measuring { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// True within the target.
fn measured(name: &str, device: &str, source: &str, options: &Options, goal: Option<f64>) -> bool {
    let ([.., cold], function) = run(source, options);
    let mut runs: Vec<[Duration; 4]> = (0..RUNS).map(|_| run(source, options).0).collect();
    let [front, plans, texts, all] = medians(&mut runs);
    let cold = cold.as_secs_f64() * 1e3;
    let lengths = lengths(&function);
    let (count, kilobytes) = (lengths.len(), lengths.iter().sum::<usize>() / 1000);
    let goal_text = goal.map_or(String::new(), |goal| format!("{goal:.0}"));
    println!(
        "{name:14} {device:15} {count:6} {kilobytes:8} {front:7.2} {plans:7.2} {texts:7.2} {cold:7.2} {all:7.2} {goal_text:>5}"
    );
    goal.is_none_or(|goal| all <= goal)
}

/// Medians of each part, in milliseconds.
fn medians<const PARTS: usize>(runs: &mut [[Duration; PARTS]]) -> [f64; PARTS] {
    std::array::from_fn(|part| {
        runs.sort_by_key(|run| run[part]);
        runs[runs.len() / 2][part].as_secs_f64() * 1e3
    })
}

/// Times of naga for the distinct shaders in sequence.
#[cfg(feature = "validate")]
fn validated(name: &str, source: &str) {
    use fuse_compiler::validate::{capabilities, parse, validator};
    let (_, function) = run(source, &options(None, true));
    let variants = kernels(&function).flat_map(|kernel| kernel.variants.iter());
    let passes = variants.flat_map(|variant| variant.passes.iter().map(|pass| (pass.wgsl.text(), variant.features)));
    let mut shaders: Vec<_> = passes.map(|(text, features)| (text.into_owned(), features)).collect();
    shaders.sort_unstable_by(|x, y| x.0.cmp(&y.0));
    shaders.dedup_by(|x, y| x.0 == y.0);
    let mut runs: Vec<[Duration; 2]> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let modules: Vec<_> =
                shaders.iter().map(|(text, features)| parse(text, *features).expect("WGSL")).collect();
            let parsed = start.elapsed();
            for (module, (_, features)) in modules.iter().zip(&shaders) {
                validator(capabilities(*features)).validate(module).expect("valid");
            }
            [parsed, start.elapsed() - parsed]
        })
        .collect();
    let [parse, validate] = medians(&mut runs);
    println!("{name:14} {} distinct shaders: naga parses {parse:.2}, validates {validate:.2}", shaders.len());
}

/// Times of one compilation: front end, planning, the rest, all; and its function.
fn run(source: &str, options: &Options) -> ([Duration; 4], Function) {
    let start = Instant::now();
    let tokens: TokenStream = source.parse().expect("a program is tokens");
    let items = front::items(tokens);
    let front = start.elapsed();
    let graph = &items.functions.last().and_then(|f| f.instances.first()).expect("a function").graph;
    let start = Instant::now();
    let function = compile(graph, options).expect("a function").function;
    let compiled = start.elapsed();
    // Separate, to time planning by itself; compilation repeats it.
    let start = Instant::now();
    plans(graph).expect("plans");
    let planned = start.elapsed();
    ([front, planned, compiled.saturating_sub(planned), front + compiled], function)
}

fn kernels(function: &Function) -> impl Iterator<Item = &Kernel> {
    let functions = iter::once(function).chain(function.alternatives.iter());
    functions.flat_map(|function| function.kernels.iter())
}

fn lengths(function: &Function) -> Vec<usize> {
    let variants = kernels(function).flat_map(|kernel| kernel.variants.iter());
    variants.flat_map(|variant| variant.passes.iter()).map(|pass| pass.wgsl.text().len()).collect()
}

fn options(features: Option<Features>, dump: bool) -> Options {
    Options {
        #[cfg(feature = "validate")]
        validate: false,
        #[cfg(feature = "validate")]
        valid: None,
        features,
        dump,
        ..Options::default()
    }
}
