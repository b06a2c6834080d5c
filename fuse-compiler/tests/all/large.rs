//! Programs of thousands of operations: walks do not recurse, limits are errors.
//!
//! Test threads have 2 MiB of stack. For compile time, see `cargo bench -p fuse-compiler --bench large`.

#[path = "large/programs.rs"]
mod programs;

use fuse_artifact::{DType, Size};
use fuse_compiler::{
    compile::{Options, compile},
    diag::Code,
    front,
    fusion::{self, Policy},
    graph::{Graph, verify},
    interp::{Value, run_exact},
};

fn graph(source: &str) -> Graph {
    let items = front::items(source.parse().expect("Rust tokens"));
    let errors: Vec<String> = items.diagnostics.errors().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let graph = items.functions.into_iter().last().expect("a function").instances.remove(0).graph;
    assert_eq!(verify::verify(&graph), Vec::<String>::new());
    graph
}

fn planned(source: &str) -> [usize; 3] {
    let graph = graph(source);
    Policy::ALL.map(|policy| {
        let plan = fusion::fuse(&graph, policy).expect("a plan");
        assert_eq!(fusion::verify::verify(&graph, &plan), Vec::<String>::new());
        plan.groups.len()
    })
}

fn kernels(source: &str) -> usize {
    let options = Options { validate: false, ..Options::default() };
    compile(&graph(source), &options).unwrap_or_else(|error| panic!("{error}")).function.kernels.len()
}

fn value(source: &str, inputs: &[f64], rank: usize) -> f64 {
    let inputs = inputs.iter().map(|&x| Value::from_data(DType::F32, &vec![1; rank], vec![x]).expect("a number"));
    run_exact(&graph(source), &inputs.collect::<Vec<_>>()).expect("a result")[0].data[0]
}

#[test]
fn chains_are_one_kernel() {
    assert_eq!(kernels(&programs::chain(4000)), 1);
    assert_eq!(planned(&programs::chain(16_000)), [1; 3]);
    let expected = (0..4000).fold(2.0f64, |x, _| x.sin() * 0.5);
    assert!((value(&programs::chain(16_000), &[2.0, 0.5], 2) - expected).abs() < 1e-9);
}

#[test]
fn a_generation_is_a_kernel() {
    assert_eq!(planned(&programs::generations(100)), [100; 3]);
}

#[test]
fn results_share_kernels_as_far_as_buffers_go() {
    // An operation binds itself and its parameter, of 16 or 8 buffers; there are 7 shapes.
    let [inlined, fused, separate] = planned(&programs::wide(512));
    assert!(inlined <= 512 / 8 + 7 && fused <= 512 / 8 + 7 && separate <= 512 / 4 + 7, "{inlined} {fused} {separate}");
    assert!(kernels(&programs::wide(200)) >= 1);
}

#[test]
fn products_one_behind_the_other() {
    assert_eq!(kernels(&programs::layers(20)), 20);
    assert_eq!(planned(&programs::layers(500))[1], 500);
    let factors: String = (0..2000).map(|i| format!(", w{i}: f32[32, 32]")).collect();
    let products: String = (0..2000).map(|i| format!("let x = matmul(x, w{i});")).collect();
    let source = format!("pub fn f(x: f32[M, 32]{factors}) -> f32[M, 32] {{ {products} x }}");
    assert_eq!(fusion::chains::orders(&graph(&source)).len(), 1);
    assert_eq!(planned(&source), [2000; 3]);
}

#[test]
fn reductions_of_one_tensor_share_a_kernel() {
    assert_eq!(planned(&programs::reductions(500))[1], 1);
    assert!(kernels(&programs::reductions(100)) >= 1);
}

#[test]
fn gradients_of_long_chains() {
    assert!(kernels(&programs::gradient_of_chain(1500)) >= 1);
    assert!(planned(&programs::gradient_of_chain(4000)).iter().all(|&kernels| kernels >= 1));
    assert!(value(&programs::gradient_of_chain(4000), &[0.5, 0.25], 1).is_finite());
}

#[test]
fn layers_of_training_share_few_kernels() {
    assert!(kernels(&programs::training_step(2)) > 30);
    let [two, eight] = [2, 8].map(|layers| planned(&programs::training_step(layers)));
    assert!((0..3).all(|policy| eight[policy] < 4 * two[policy]), "{two:?}, {eight:?}");
}

#[test]
fn scores_and_masks_of_attentions_may_be_long() {
    let head = "pub fn f(q: f32[S, 16], k: f32[S, 16], v: f32[S, 16]) -> f32[S, 16] { let s = matmul(q, transpose(k));";
    let scores = "let s = tanh(s) * 2.0;".repeat(2000);
    assert_eq!(planned(&format!("{head} {scores} matmul(softmax(s), v) }}"))[1], 1);
    let mask = "let i = i + i; let seen = seen && i > index(s, axis = 1) && seen;".repeat(300);
    let start = "let i = reshape(index(s, axis = 0) + 1, [S, S]); let seen = i > index(s, axis = 1);";
    assert_eq!(kernels(&format!("{head} {start} {mask} matmul(softmax(select(seen, s, -inf)), v) }}")), 1);
}

#[test]
fn operands_of_products_may_be_long() {
    let moved = "let x = transpose(x);".repeat(4000);
    let source = format!("pub fn f(x: f32[M, M], w: f32[M, N]) -> f32[M, N] {{ {moved} matmul(x, w) }}");
    assert_eq!(planned(&source), [1; 3]);
}

#[test]
fn what_is_too_large_is_an_error() {
    let items = front::items(programs::chain(16_400).parse().expect("Rust tokens"));
    let errors: Vec<Code> = items.diagnostics.errors().map(|error| error.code).collect();
    assert_eq!(errors, [Code::TooLarge]);
}

fn work(graph: &Graph, policy: Policy) -> u64 {
    let plan = fusion::fuse(graph, policy).expect("a plan");
    assert_eq!(fusion::verify::verify(graph, &plan), Vec::<String>::new());
    let symbols: Vec<u64> = graph.symbols.iter().map(|_| 4).collect();
    let elements = |group: &fusion::Group| Size::product(&group.shape).eval(&symbols).expect("a size");
    plan.groups.iter().map(|group| elements(group) * group.body.values.len() as u64).sum()
}

/// Twelve times the pieces are about twelve times the work.
#[test]
fn values_of_many_pieces() {
    for (few, many) in programs::pieces(84).iter().zip(programs::pieces(1008)) {
        let (few, many) = (graph(few), graph(&many));
        for policy in Policy::ALL {
            let (one, twelve) = (work(&few, policy), work(&many, policy));
            assert!(twelve <= 30 * one, "{}: {one}, {twelve}", &many.name);
        }
    }
    assert!(kernels(&programs::pieces(300)[0]) <= 300 / 7);
}
