//! How long `fuse!` takes per kernel: front end, compilation, naga's validation and quoting.
//!
//! `all` is the first expansion of a process, `again` one of the same tokens later, as in editors: its shaders are known to be
//! valid. `cargo bench -p fuse-macros` prints the shortest of several expansions of each program, so that other work of the
//! machine counts little, and fails if one exceeds its bar. Outside of rustc the tokens are those of `proc_macro2`
//! itself, which are slower than the compiler's. The last two programs are whole steps of training.

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

/// The most that one kernel may take, in ms.
const KERNEL: u64 = 25;
/// How long a program is expanded, at least three times.
const MEASURED: Duration = Duration::from_secs(1);

/// What is measured: a name, the source, and the most that the expansion may take for each function and choice of dtypes, in ms.
const PROGRAMS: [(&str, &str, u64); 5] = [
    ("pointwise", "pub fn f(x: f32[M, N], b: f32[N]) -> f32[M, N] { gelu(x * 2.0 + b) }", KERNEL),
    (
        "matmul with epilogue",
        "pub fn f(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] { relu(matmul(x, w) + b + r) }",
        KERNEL,
    ),
    (
        "generic matmul with epilogue",
        "pub fn f<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] { gelu(matmul(x, w) + b) }",
        KERNEL,
    ),
    ("pointwise expression", "sigmoid(a * b + c)", KERNEL),
    ("matmul expression", "relu(matmul(x, w) + b + r)", KERNEL),
];

/// AdamW for the steps of training, which import `fuse-kernels` where they are at home.
const OPTIMIZERS: &str = "
    fn adamw(p: f32[N], g: f32[N], m: f32[N], s: f32[N], rate: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, step: f32)
        -> (f32[N], f32[N], f32[N])
    {
        let first = beta1 * m + (1.0 - beta1) * g;
        let second = beta2 * s + (1.0 - beta2) * g * g;
        let (c1, c2) = (-expm1(step * log(beta1)), -expm1(step * log(beta2)));
        (p * (1.0 - rate * decay) - rate * ((first / c1) / (sqrt(second / c2) + eps)), first, second)
    }

    fn adamw_matrix(
        p: f32[M, N], g: f32[M, N], m: f32[M, N], s: f32[M, N],
        rate: f32, beta1: f32, beta2: f32, eps: f32, decay: f32, step: f32,
    ) -> (f32[M, N], f32[M, N], f32[M, N]) {
        let first = beta1 * m + (1.0 - beta1) * g;
        let second = beta2 * s + (1.0 - beta2) * g * g;
        let (c1, c2) = (-expm1(step * log(beta1)), -expm1(step * log(beta2)));
        (p * (1.0 - rate * decay) - rate * ((first / c1) / (sqrt(second / c2) + eps)), first, second)
    }
";

/// A step of training as it stands in a file, from a line to the end of its block; no other function of it is public.
fn step_of(file: &str, from: &str) -> String {
    let start = file.find(from).expect("the step is where it was");
    let text = &file[start..];
    let text = &text[..text.find("\n}\n").expect("blocks end")];
    OPTIMIZERS.to_owned() + &text.replace("pub fn", "fn").replace("fn step", "pub fn step")
}

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
    let perceptron = step_of(include_str!("../../benches/kernels/gradients.rs"), "    pub fn step");
    let language_model = step_of(include_str!("../../examples/char_lm.rs"), "    /// Rows with");
    let steps = [("step of three layers", &*perceptron, 1000), ("step of a language model", &*language_model, 5000)];
    for (name, source, bar) in PROGRAMS.into_iter().chain(steps) {
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
        within &= all <= Duration::from_millis(bar);
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
