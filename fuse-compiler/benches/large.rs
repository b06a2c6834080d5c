//! Compile time for thousands of operations: front end, planning under each policy, and all but naga's validation.
//!
//! `cargo bench -p fuse-compiler --bench large` measures all programs, `… -- chain` those of that name, `… -- --plan`
//! without compilation.

#[path = "../tests/all/large/programs.rs"]
mod programs;

use std::time::{Duration, Instant};

use fuse_compiler::{
    compile::{Options, compile},
    front,
    fusion::{self, Policy},
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let compiles = !arguments.iter().any(|argument| argument == "--plan");
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let programs = [
        ("chain 1024", programs::chain(1024)),
        ("chain 4096", programs::chain(4096)),
        ("chain 16000", programs::chain(16_000)),
        ("layers 128", programs::layers(128)),
        ("layers 512", programs::layers(512)),
        ("reductions 512", programs::reductions(512)),
        ("generations 25", programs::generations(25)),
        ("generations 100", programs::generations(100)),
        ("pieces 1000", programs::pieces(1000)[0].clone()),
        ("wide 1024", programs::wide(1024)),
        ("gradient of chain 4000", programs::gradient_of_chain(4000)),
        ("training step 2", programs::training_step(2)),
        ("training step 8", programs::training_step(8)),
        ("training step 24", programs::training_step(24)),
    ];
    println!(
        "{:24} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "ms", "nodes", "kernels", "front", "inlined", "fused", "separate", "compile"
    );
    for (name, source) in programs {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let tokens = source.parse().expect("Rust tokens");
        let (front, items) = timed(|| front::items(tokens));
        let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
        let Some(instance) = items.functions.last().and_then(|function| function.instances.first()) else {
            println!("{name:24} {errors:?}");
            continue;
        };
        let graph = &instance.graph;
        let plans = Policy::ALL.map(|policy| timed(|| fusion::fuse(graph, policy).expect("a plan")));
        let kernels = plans[1].1.groups.len();
        let options = Options {
            #[cfg(feature = "validate")]
            validate: false,
            ..Options::default()
        };
        let compiled = compiles.then(|| timed(|| compile(graph, &options).expect("a function")).0);
        let [inlined, fused, separate] = plans.map(|(time, _)| ms(time));
        let compiled = compiled.map_or("–".to_owned(), ms);
        let (front, nodes) = (ms(front), graph.nodes.len());
        println!("{name:24} {nodes:6} {kernels:8} {front:>8} {inlined:>8} {fused:>8} {separate:>8} {compiled:>8}");
    }
}

fn ms(time: Duration) -> String {
    format!("{:.0}", time.as_secs_f64() * 1e3)
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = run();
    (start.elapsed(), value)
}
