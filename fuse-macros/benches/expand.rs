//! Time of `fuse!` per kernel: front end, compilation, naga's validation and quoting.
//!
//! `all` is the first expansion of a process; `again` repeats it with shaders known to be valid, as editors do. `cargo
//! bench -p fuse-macros` prints the shortest of several expansions and fails above a target. Tokens are
//! `proc_macro2`'s, slower than the compiler's. Times of the last two programs, training steps, include all kernels.

#[path = "../src"]
mod macros {
    pub(crate) mod expand;
}

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
use macros::expand;
use proc_macro2::TokenStream;
use quote::quote;

/// Maximum time of one kernel, in ms.
const BAR: u64 = 25;
/// Time per program, with at least three expansions.
const MEASURED: Duration = Duration::from_secs(1);

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

/// Training steps from their home files with the optimizers they import: name, source, maximum time of the expansion in
/// ms.
fn steps() -> [(&'static str, String, u64); 2] {
    let gradients = include_str!("../../benches/kernels/gradients.rs");
    let char_lm = include_str!("../../examples/char_lm.rs");
    [
        ("step of three layers", step(between(gradients, "    pub fn step(", "\n}\n")), 1000),
        ("step of a language model", step(between(char_lm, "    fn norm(", "\n}\n")), 5000),
    ]
}

fn step(functions: &str) -> String {
    let adamw = between(include_str!("../../fuse-kernels/src/optimizers.rs"), "pub fn $adamw(", "            }\n");
    let of = |name, shape| format!("{}}}\n", adamw.replace("$adamw", name).replace(" $shape", shape));
    let functions = of("adamw", "[N]") + &of("adamw_matrix", "[M, N]") + functions;
    functions.replace("pub fn", "fn").replace("fn step", "pub fn step")
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let text = &text[text.find(start).expect("it is where it was")..];
    &text[..text.find(end).expect("it has an end")]
}

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
        "ms per kernel, of steps: of all {:>7} {:>6} {:>6} {:>7} {:>9} {:>9}",
        "all", "again", "front", "compile", "validate", "KB Rust"
    );
    let mut within = true;
    for (name, source) in PROGRAMS {
        within &= measured(name, source, None) <= Duration::from_millis(BAR);
    }
    for (name, source, bar) in steps() {
        within &= measured(name, &source, Some(1)) <= Duration::from_millis(bar);
    }
    // `cargo test --benches` runs this without optimization and without the argument that `cargo bench` adds.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    if within || !measuring { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints times per part, by default per kernel. Returns the first expansion's.
fn measured(name: &str, source: &str, parts: Option<u32>) -> Duration {
    let tokens: TokenStream = source.parse().expect("a program is tokens");
    let graphs = graphs(tokens.clone());
    let parts = parts.unwrap_or(graphs.len() as u32);
    let compile = |validate| {
        let options = Options { validate, ..Options::default() };
        graphs.iter().all(|graph| compile(graph, &options).is_ok())
    };
    let known = context();
    let bytes = expand::expand(tokens.clone(), &known).to_string().len();
    let all = shortest(|| expand::expand(tokens.clone(), &context())) / parts;
    let again = shortest(|| expand::expand(tokens.clone(), &known)) / parts;
    let front = shortest(|| self::graphs(tokens.clone())) / parts;
    let emit = shortest(|| compile(false)) / parts;
    let validated = shortest(|| compile(true)) / parts;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let validation = ms(validated.saturating_sub(emit));
    let (all_ms, again, front, emit) = (ms(all), ms(again), ms(front), ms(emit));
    println!("{name:30} {all_ms:8.2} {again:6.2} {front:6.2} {emit:7.2} {validation:9.2} {:9}", bytes / 1000);
    all
}

fn graphs(tokens: TokenStream) -> Vec<Graph> {
    let instances = if front::is_items(&tokens) {
        front::items(tokens).functions.into_iter().flat_map(|function| function.instances).collect()
    } else {
        front::expression(tokens).instances
    };
    instances.into_iter().map(|instance| instance.graph).collect()
}

fn shortest<T>(run: impl Fn() -> T) -> Duration {
    let whole = Instant::now();
    let mut shortest = Duration::MAX;
    for rounds in 0.. {
        let start = Instant::now();
        black_box(run());
        shortest = shortest.min(start.elapsed());
        if rounds > 2 && whole.elapsed() > MEASURED {
            break;
        }
    }
    shortest
}
