//! Sources of programs of every kernel shape, also for targets without files.

use fuse_compiler::{graph::CompareOp, operations::BinaryOp};

use crate::operations::{ALL, NUMBERS, unary_texts};

/// Name and source of a `.fuse` file.
pub type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../in/", $name, ".fuse")))),*] };
}

/// File tests.
pub const FILES: &[Source] = sources! {
    "attention" "attention_f16" "attention_gradient" "attention_gradient_f16" "attention_scores" "calls" "causal_mask" "dropout" "embedding_gradient" "encoder_layer" "expensive_prologue"
    "feed_forward" "generic" "integers" "layer_norm_gelu" "linear_f16" "linear_residual_relu" "matmul_norm" "matrix_chain"
    "movements" "no_fuse" "norm_matmul" "permute_f16" "quantized" "reduce_axes" "residual_norm" "scale_add" "scaled_operand"
    "several_reductions" "several_results" "siblings" "sigmoid_broadcast" "slice_reshape" "softmax" "ten_operands"
    "training_step" "transpose_add" "update_in_place"
};

/// Every operation on every dtype, each in its own function.
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

/// Programs that complete the file tests: every schedule family, by layouts of products, several products, packings and
/// head sizes.
pub fn every_family() -> Vec<String> {
    let mut sources = vec![
        "pub fn rows<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] { relu(matmul(x, w) + b) }
         pub fn depth<T: Float>(x: T[B, M, K], w: T[B, N, K], b: T[N]) -> T[B, M, N] { matmul(x, transpose(w)) + b }
         pub fn columns<T: Float>(x: T[B, K, M], w: T[B, K, N]) -> T[B, M, N] { matmul(transpose(x), w) }
         pub fn computed<T: Float>(x: T[B, M, K], w: T[B, K, N], b: T[N]) -> T[B, M, N] { matmul(gelu(x), w) + b }
         pub fn siblings<T: Float>(x: T[M, K], w: T[K, N], v: T[K, N], u: T[K, L]) -> (T[M, N], T[M, N], T[M, L]) {
             (relu(matmul(x, w)), matmul(x, v), matmul(x, u))
         }
         pub fn gated<T: Float>(x: T[M, K], w: T[K, N], v: T[K, N]) -> T[M, N] { silu(matmul(x, w)) * matmul(x, v) }
         pub fn gated_depth<T: Float>(x: T[M, K], w: T[N, K], v: T[N, K]) -> T[M, N] {
             silu(matmul(x, transpose(w))) * matmul(x, transpose(v))
         }
         pub fn siblings_depth<T: Float>(x: T[M, K], w: T[N, K], v: T[N, K], u: T[L, K]) -> (T[M, N], T[M, N], T[M, L]) {
             (matmul(x, transpose(w)), matmul(x, transpose(v)), matmul(x, transpose(u)))
         }
         pub fn normalized<T: Float>(x: T[M, K], g: T[K], w: T[K, N]) -> T[M, N] { matmul(rms_norm(x, g), w) }
         pub fn reduced<T: Float>(x: T[M, K], w: T[K, N], g: T[N], b: T[N]) -> T[M, N] { layer_norm(matmul(x, w), g, b) }"
            .to_owned(),
        "pub fn sums<T: Float>(x: T[M, N]) -> T[M] { sum(x, axis = 1) }
         pub fn column_sums<T: Float>(x: T[M, N]) -> T[N] { sum(x, axis = 0) }
         pub fn middle<T: Float>(x: T[B, M, N]) -> T[B, N] { sum(x, axis = 1) }
         pub fn softmaxes<T: Float>(x: T[M, N]) -> T[M, N] { softmax(x) }
         pub fn norms<T: Float>(x: T[M, N], g: T[N], b: T[N]) -> T[M, N] { layer_norm(x, g, b) }"
            .to_owned(),
    ];
    for packing in ["q8", "q4", "q3", "q2", "q1"] {
        sources.push(format!(
            "pub fn weights<T: Float>(x: T[M, K], w: {packing}[K, N]) -> T[M, N] {{ matmul(x, w) }}
             pub fn across<T: Float>(x: T[M, K], w: {packing}[N, K]) -> T[M, N] {{ matmul(x, transpose(w)) }}"
        ));
    }
    for head in ["16", "32", "64", "128", "D"] {
        for scores in ["matmul(q, transpose(k))", "matmul(q, transpose(k)) * (0.125 as T)"] {
            sources.push(format!(
                "pub fn attend<T: Float>(q: T[B, H, S, {head}], k: T[B, H, L, {head}], v: T[B, H, L, {head}])
                     -> T[B, H, S, {head}] {{ matmul(softmax({scores}), v) }}"
            ));
        }
    }
    for head in ["16", "32", "64", "128", "D"] {
        sources.push(format!(
            "pub fn attend_back<T: Float>(q: T[H, S, {head}], k: T[H, L, {head}], v: T[H, L, {head}], c: T[H, S, {head}])
                 -> (T[H, S, {head}], T[H, L, {head}], T[H, L, {head}]) {{
                 grad(matmul(softmax(matmul(q, transpose(k))), v), wrt = [q, k, v], cotangent = c)
             }}"
        ));
    }
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
