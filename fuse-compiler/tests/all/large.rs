//! Programs of thousands of operations: no walk over a graph nests, whatever its depth, and limits are errors.

#[path = "large/programs.rs"]
mod programs;

use fuse_compiler::{
    compile::{Options, compile},
    diag::Code,
    front,
    graph::Graph,
};

fn graph(source: &str) -> Graph {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}");
    items.functions.into_iter().last().expect("a function").instances.remove(0).graph
}

/// Compiles without validation, on this test's thread of 2 MiB; the kernels.
fn kernels(source: &str) -> usize {
    let options = Options { validate: false, ..Options::default() };
    compile(&graph(source), &options).unwrap_or_else(|error| panic!("{error}")).function.kernels.len()
}

#[test]
fn chains_are_one_kernel() {
    assert_eq!(kernels(&programs::chain(4000)), 1);
}

#[test]
fn the_longest_chain_plans() {
    let graph = graph(&programs::chain(16_000));
    let plan = fuse_compiler::fusion::fuse(&graph, fuse_compiler::fusion::Policy::ALL[1]).expect("a plan");
    assert_eq!(plan.groups.len(), 1);
}

#[test]
fn products_one_behind_the_other_and_side_by_side() {
    assert_eq!(kernels(&programs::layers(200)), 200);
    assert!(kernels(&programs::reductions(100)) >= 1);
    assert!(kernels(&programs::wide(200)) >= 1);
}

#[test]
fn gradients_of_long_chains_and_of_layers() {
    assert!(kernels(&programs::gradient_of_chain(1500)) >= 1);
    assert!(kernels(&programs::training_step(3)) > 30);
}

#[test]
fn what_is_too_large_is_an_error() {
    let items = front::items(programs::chain(16_400).parse().expect("Rust tokens"));
    let errors: Vec<Code> = items.diagnostics.errors().map(|error| error.code).collect();
    assert_eq!(errors, [Code::TooLarge]);
}
