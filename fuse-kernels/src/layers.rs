//! Linear layers, feed-forward blocks and chains of products.

use fuse_macros::fuse;

fuse! {
    /// Linear layer: `x·w + b`. `x: [M, K]`, `w: [K, N]`, `b: [N]` → `[M, N]`.
    pub fn linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        matmul(x, w) + b
    }

    /// Linear layer with weights of shape `[outputs, inputs]`: `x·wᵀ + b`.
    pub fn linear_t<T: Float>(x: T[M, K], w: T[N, K], b: T[N]) -> T[M, N] {
        matmul(x, transpose(w)) + b
    }

    /// Linear layer with ReLU: `max(x·w + b, 0)`.
    pub fn linear_relu<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        relu(linear(x, w, b))
    }

    /// Linear layer with exact GELU: `gelu(x·w + b)` (Hendrycks and Gimpel 2016).
    pub fn linear_gelu<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        gelu(linear(x, w, b))
    }

    /// Linear layer with the tanh approximation of GELU.
    pub fn linear_gelu_tanh<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        gelu_tanh(linear(x, w, b))
    }

    /// Linear layer with SiLU: `y·sigmoid(y)` of `y = x·w + b`.
    pub fn linear_silu<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        silu(linear(x, w, b))
    }

    /// Linear layer with the logistic function: `1/(1 + e^-(x·w + b))`.
    pub fn linear_sigmoid<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        sigmoid(linear(x, w, b))
    }

    /// Linear layer with the hyperbolic tangent: `tanh(x·w + b)`.
    pub fn linear_tanh<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        tanh(linear(x, w, b))
    }

    /// Linear layer with a residual connection: `x·w + b + r`, `r: [M, N]`.
    pub fn linear_residual<T: Float>(x: T[M, K], w: T[K, N], b: T[N], r: T[M, N]) -> T[M, N] {
        linear(x, w, b) + r
    }

    /// Linear layer with a residual connection and ReLU: `max(x·w + b + r, 0)`.
    pub fn linear_residual_relu<T: Float>(x: T[M, K], w: T[K, N], b: T[N], r: T[M, N]) -> T[M, N] {
        relu(linear_residual(x, w, b, r))
    }

    /// GELU before a linear layer: `gelu(x)·w + b`.
    pub fn gelu_linear<T: Float>(x: T[M, K], w: T[K, N], b: T[N]) -> T[M, N] {
        linear(gelu(x), w, b)
    }

    /// Feed-forward block of a transformer layer with weights of shape `[outputs, inputs]`, before its layer norm:
    /// `gelu(x·w1ᵀ + b1)·w2ᵀ + b2 + x` (Devlin et al. 2019; exact `gelu`).
    pub fn feed_forward_t<T: Float>(x: T[S, E], w1: T[H, E], b1: T[H], w2: T[E, H], b2: T[E]) -> T[S, E] {
        linear_t(gelu(linear_t(x, w1, b1)), w2, b2) + x
    }

    /// Gate of a SwiGLU block: `silu(gate)·up`, element by element (Shazeer 2020).
    pub fn swiglu_gate<T: Float>(gate: T[M, N], up: T[M, N]) -> T[M, N] {
        silu(gate) * up
    }

    /// Gate of a GEGLU block: `gelu(gate)·up`, element by element (Shazeer 2020).
    pub fn geglu_gate<T: Float>(gate: T[M, N], up: T[M, N]) -> T[M, N] {
        gelu(gate) * up
    }

    /// Gated feed-forward block without biases: `(silu(x·g) * (x·u))·d` (Shazeer 2020, "SwiGLU").
    pub fn swiglu<T: Float>(x: T[S, E], g: T[E, H], u: T[E, H], d: T[H, E]) -> T[S, E] {
        matmul(swiglu_gate(matmul(x, g), matmul(x, u)), d)
    }

    /// Gated feed-forward block with GELU: `(gelu(x·g) * (x·u))·d` (Shazeer 2020, "GEGLU").
    pub fn geglu<T: Float>(x: T[S, E], g: T[E, H], u: T[E, H], d: T[H, E]) -> T[S, E] {
        matmul(geglu_gate(matmul(x, g), matmul(x, u)), d)
    }

    /// Product of three matrices, multiplied in the cheaper order for their sizes: `a·b·c`.
    pub fn matrix_chain<T: Float>(a: T[M, K], b: T[K, L], c: T[L, N]) -> T[M, N] {
        matmul(matmul(a, b), c)
    }
}
