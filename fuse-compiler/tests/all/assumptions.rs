//! Expressions compile twice: for the usual shapes and for all others.

use fuse_compiler::{
    compile::{Options, compile},
    front,
};

/// Kernels of the first instance, with and without assumptions.
fn kernels(source: &str) -> (usize, Option<usize>) {
    let expression = front::expression(source.parse().expect("the source has balanced brackets"));
    assert!(!expression.diagnostics.has_errors(), "{source} has errors");
    let function = compile(&expression.instances[0].graph, &Options::default()).expect("it compiles").function;
    let general = function.alternatives.last().filter(|_| !function.assumes.is_empty());
    assert!(general.is_none_or(|general| general.assumes.is_empty()), "the last plan is for all shapes");
    (function.kernels.len(), general.map(|general| general.kernels.len()))
}

#[test]
fn an_epilogue_joins_its_product_unless_a_broadcast_enlarges_it() {
    assert_eq!(kernels("relu(matmul(x, w) + b + r)"), (1, Some(2)));
    assert_eq!(kernels("gelu(matmul(x, w) + b)"), (1, Some(2)));
}

#[test]
fn products_without_broadcasts_and_pointwise_expressions_assume_nothing() {
    assert_eq!(kernels("relu(matmul(x, w))"), (1, None));
    assert_eq!(kernels("sigmoid(a * b + c)"), (1, None));
}

#[test]
fn an_attention_is_one_kernel_unless_its_values_have_more_batches() {
    assert_eq!(kernels("matmul(softmax(matmul(q, transpose(k))), v)"), (1, Some(3)));
    assert_eq!(kernels("matmul(softmax(matmul(q, transpose(k)) * s), v)"), (1, Some(3)));
    assert_eq!(kernels("matmul(softmax(matmul(q, transpose(k)) * 0.125 + m), v) + r"), (1, Some(4)));
}

#[test]
fn an_attention_with_a_causal_mask_is_one_kernel() {
    let masked = |scores: &str, condition: &str| {
        kernels(&format!("{{ let s = {scores}; matmul(softmax(select({condition}, s, -inf)), v) }}"))
    };
    let causal = "index(s, axis = -1) <= index(s, axis = -2)";
    assert_eq!(masked("matmul(q, transpose(k)) * 0.25", causal), (1, Some(3)));
    assert_eq!(masked("matmul(q, transpose(k)) * scale", causal), (1, Some(3)));
    assert_eq!(masked("matmul(q, transpose(k)) + bias", &format!("{causal} && visible > 0.0")), (1, Some(4)));
}

#[test]
fn weights_that_come_from_no_product_assume_nothing() {
    assert_eq!(kernels("matmul(softmax(x), w)"), (1, None));
    assert_eq!(kernels("matmul(matmul(a, b), c)"), (2, None));
}
