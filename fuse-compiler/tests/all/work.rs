//! [`Work`] of kernels: arithmetic per element of each space.

use fuse_artifact::Work;
use fuse_compiler::{
    compile::{Options, compile},
    front,
};

fn work(source: &str) -> Vec<Work> {
    let items = front::items(source.parse().expect("the source has balanced brackets"));
    assert!(!items.diagnostics.has_errors(), "{source} has errors");
    let function = compile(&items.functions[0].instances[0].graph, &Options::default()).expect("it compiles").function;
    function.kernels.iter().map(|kernel| kernel.work).collect()
}

#[test]
fn pointwise_kernels_count_their_operations() {
    let found = work("pub fn f(a: f32[N], b: f32[N]) -> f32[N] { sigmoid(a * b) + 1.0 }");
    assert_eq!(found, [Work { point: 10, ..Work::default() }]);
}

#[test]
fn products_count_operands_and_epilogue_apart() {
    let source = "pub fn f(x: f32[M, K], y: f32[M, K], w: f32[K, N]) -> f32[M, N] { relu(matmul(x + y * y, -w)) }";
    assert_eq!(work(source), [Work { point: 1, lhs: 2, rhs: 1, ..Work::default() }]);
    let plain = "pub fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(x, w) }";
    assert_eq!(work(plain), [Work::default()]);
}

#[test]
fn products_count_what_they_reduce_of_their_operand() {
    // Squared and added once, scaled at every tile load.
    let source = "pub fn f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N] { matmul(rms_norm(x, g), w) }";
    assert_eq!(work(source), [Work { lhs: 2, row: 2, row_passes: 1, ..Work::default() }]);
    let source = "pub fn f(x: f32[M, K], w: f32[K, N]) -> f32[M, N] { matmul(softmax(x), w) }";
    assert_eq!(work(source), [Work { lhs: 10, row: 11, row_passes: 2, ..Work::default() }]);
}
