//! How long `fuse!` takes per kernel: front end, compilation, naga's validation and quoting.
//!
//! `all` is the first expansion of a process, `again` one of the same tokens later, as in editors: its shaders are known to be
//! valid. `cargo bench -p fuse-macros` prints the shortest of several expansions of each program, so that other work of the
//! machine counts little, and fails if one exceeds [`BAR`]. Outside of rustc the tokens are those of `proc_macro2`
//! itself, which are slower than the compiler's.

#[path = "../src/expand/mod.rs"]
mod expand;

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use fuse_compiler::{
    compile::{Options, compile},
    front,
    graph::Graph,
};
use proc_macro2::TokenStream;
use quote::quote;

/// The most that one kernel may take.
const BAR: Duration = Duration::from_millis(25);
/// Expansions of each program that are measured.
const ROUNDS: usize = 21;

/// What is measured: a name and the source.
const PROGRAMS: [(&str, &str); 5] = [
    ("pointwise", "pub fn f(x: f32[M, N], b: f32[N]) -> f32[M, N] { gelu(x * 2.0 + b) }"),
    (
        "matmul with epilogue",
        "pub fn f(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] { relu(matmul(x, w) + b + r) }",
    ),
    (
        "generic matmul with epilogue",
        "pub fn f<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] { gelu(matmul(x, w) + b) }",
    ),
    ("pointwise expression", "sigmoid(a * b + c)"),
    ("matmul expression", "relu(matmul(x, w) + b + r)"),
];

/// The surroundings of an expansion in a process that has validated nothing.
fn context() -> expand::Context {
    expand::Context {
        runtime: quote!(::fuse_gpu::__private),
        callback: quote!(::fuse_gpu::fuse),
        place: "bench".into(),
        unique: "bench".into(),
        dump: None,
        valid: Box::leak(Box::default()),
    }
}

fn main() -> ExitCode {
    println!(
        "milliseconds per kernel {:>15} {:>6} {:>6} {:>7} {:>9} {:>9}",
        "all", "again", "front", "compile", "validate", "KB Rust"
    );
    let mut within = true;
    for (name, source) in PROGRAMS {
        let Ok(tokens) = source.parse::<TokenStream>() else {
            eprintln!("{name}: not tokens");
            return ExitCode::FAILURE;
        };
        let graphs = graphs(tokens.clone());
        let kernels = graphs.len() as u32;
        let compile = |validate| {
            let options = Options { validate, ..Options::default() };
            graphs.iter().all(|graph| compile(graph, &options).is_ok())
        };
        let known = context();
        let bytes = expand::expand(tokens.clone(), &known).to_string().len();
        let all = shortest(|| expand::expand(tokens.clone(), &context())) / kernels;
        let again = shortest(|| expand::expand(tokens.clone(), &known)) / kernels;
        let front = shortest(|| self::graphs(tokens.clone())) / kernels;
        let emit = shortest(|| compile(false)) / kernels;
        let validated = shortest(|| compile(true)) / kernels;
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let validation = ms(validated.saturating_sub(emit));
        let (all_ms, again, front, emit) = (ms(all), ms(again), ms(front), ms(emit));
        println!("{name:30} {all_ms:8.2} {again:6.2} {front:6.2} {emit:7.2} {validation:9.2} {:9}", bytes / 1000);
        within &= all <= BAR;
    }
    // `cargo test --benches` runs this without optimization and without the argument that `cargo bench` adds.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    if within || !measuring { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The graphs of a block or an expression: one per kernel, as each of the programs is one kernel per dtype.
fn graphs(tokens: TokenStream) -> Vec<Graph> {
    let instances = if front::is_items(&tokens) {
        front::items(tokens).functions.into_iter().flat_map(|function| function.instances).collect()
    } else {
        front::expression(tokens).instances
    };
    instances.into_iter().map(|instance| instance.graph).collect()
}

/// The shortest time of several runs.
fn shortest<T>(run: impl Fn() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}
