//! Programs of every kernel shape, as texts, also where there are no files.

use fuse_compiler::{graph::CompareOp, operations::BinaryOp};

use crate::operations::{ALL, NUMBERS, unary_texts};

/// Name and text of a `.fuse` file.
pub type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../in/", $name, ".fuse")))),*] };
}

/// The file tests.
pub const FILES: &[Source] = sources! {
    "attention" "attention_f16" "attention_gradient" "attention_scores" "calls" "causal_mask" "dropout" "embedding_gradient" "encoder_layer" "expensive_prologue"
    "feed_forward" "generic" "integers" "layer_norm_gelu" "linear_f16" "linear_residual_relu" "matmul_norm" "matrix_chain"
    "movements" "no_fuse" "norm_matmul" "permute_f16" "quantized" "reduce_axes" "residual_norm" "scale_add" "scaled_operand"
    "several_reductions" "several_results" "siblings" "sigmoid_broadcast" "slice_reshape" "softmax" "ten_operands"
    "training_step" "transpose_add" "update_in_place"
};

/// Every operation on every dtype, each in a function of its own.
pub fn every_operation() -> Vec<String> {
    let mut sources = vec![];
    for dtype in ALL {
        for result in ALL {
            let texts = unary_texts(dtype, result, "x");
            sources.extend(texts.iter().map(|text| format!("pub fn f(x: {dtype}[N]) -> {result}[N] {{ {text} }}")));
        }
    }
    for dtype in NUMBERS {
        for op in BinaryOp::ALL.iter().filter(|op| op.row().symbol.is_none() && op.takes(dtype)) {
            sources.push(format!("pub fn f(x: {dtype}[N], y: {dtype}[N]) -> {dtype}[N] {{ {}(x, y) }}", op.name()));
        }
        if dtype.is_integer() {
            for symbol in ["&", "|", "^", "<<", ">>"] {
                sources.push(format!("pub fn f(x: {dtype}[M, N], y: {dtype}[N]) -> {dtype}[M, N] {{ x {symbol} y }}"));
            }
        }
        for symbol in ["+", "-", "*", "/", "%"] {
            sources.push(format!("pub fn f(x: {dtype}[M, N], y: {dtype}[N]) -> {dtype}[M, N] {{ x {symbol} y }}"));
        }
        let conversions = NUMBERS.into_iter().filter(|&to| to != dtype);
        sources.extend(conversions.map(|to| format!("pub fn f(x: {dtype}[N]) -> {to}[N] {{ x as {to} }}")));
    }
    let count = CompareOp::ALL.len();
    let results = vec!["bool[N]"; count].join(", ");
    sources.push(format!(
        "pub fn f(x: f32[N], y: f32[N]) -> ({results}) {{ (x == y, x != y, x < y, x <= y, x > y, x >= y) }}"
    ));
    sources.push("pub fn f(x: bool[N], y: bool[N]) -> bool[N] { !x && (y || x) }".to_owned());
    sources.push("pub fn f(x: bool[N], y: bool[N]) -> bool[N] { x & y | !x ^ y }".to_owned());
    sources
}

#[cfg(test)]
mod tests {
    use super::FILES;
    use crate::checkout;

    #[test]
    fn no_file_is_left_out() {
        let names: Vec<String> = crate::files(&checkout().join("tests/in")).into_iter().map(|file| file.name).collect();
        assert_eq!(FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    }
}
