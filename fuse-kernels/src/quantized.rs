//! Layers with quantized weights, and attention over quantized keys and values.
//!
//! For each width (`q8`, `q4`, `q3`, `q2`, `q1`). Activations are `f32` or `f16`; kernels dequantize on load. Weights
//! are packed along the inputs: `QTensor::quantize` packs `[inputs, outputs]` so by default, and `[outputs, inputs]`
//! with `QuantScheme::axis(1)`.

use fuse_macros::fuse;

macro_rules! layers {
    ($($q:ident: $matmul:ident $linear_t:ident $linear_gelu:ident $attention:ident;)*) => {$(
        fuse! {
            /// Product with quantized weights: `x·w`. `x: [M, K]`, `w: [K, N]` → `[M, N]`.
            pub fn $matmul<T: Float>(x: T[M, K], w: $q[K, N]) -> T[M, N] {
                matmul(x, w)
            }

            /// Linear layer with quantized weights of shape `[outputs, inputs]`: `x·wᵀ + b`.
            pub fn $linear_t<T: Float>(x: T[M, K], w: $q[N, K], b: T[N]) -> T[M, N] {
                matmul(x, transpose(w)) + b
            }

            /// Linear layer with quantized weights and exact GELU: `gelu(x·w + b)` (Hendrycks and Gimpel 2016).
            pub fn $linear_gelu<T: Float>(x: T[M, K], w: $q[K, N], b: T[N]) -> T[M, N] {
                gelu(matmul(x, w) + b)
            }

            /// Attention of new tokens over quantized keys and values, `softmax(q·kᵀ/√D)·v`: queries `[B, H, S, D]`,
            /// keys and values `[B, H, L, D]`, packed along their last axis, a token at a time.
            pub fn $attention<T: Float>(q: T[B, H, S, D], k: $q[B, H, L, D], v: $q[B, H, L, D]) -> T[B, H, S, D] {
                let scores = matmul(q, transpose(dequantize(k, axis = 3) as T)) / (sqrt(D as f32) as T);
                matmul(softmax(scores), dequantize(v, axis = 3) as T)
            }
        }
    )*};
}

layers! {
    q8: matmul_q8 linear_t_q8 linear_gelu_q8 attention_q8;
    q4: matmul_q4 linear_t_q4 linear_gelu_q4 attention_q4;
    q3: matmul_q3 linear_t_q3 linear_gelu_q3 attention_q3;
    q2: matmul_q2 linear_t_q2 linear_gelu_q2 attention_q2;
    q1: matmul_q1 linear_t_q1 linear_gelu_q1 attention_q1;
}
