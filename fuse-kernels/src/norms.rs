//! Softmax and norms along rows, with common epilogues.

use fuse_macros::fuse;

fuse! {
    /// Softmax of each row: `e^(x - max x) / Σ e^(x - max x)`. `x: [M, N]` → `[M, N]`.
    pub fn row_softmax<T: Float>(x: T[M, N]) -> T[M, N] {
        softmax(x)
    }

    /// Logarithm of the softmax of each row.
    pub fn row_log_softmax<T: Float>(x: T[M, N]) -> T[M, N] {
        log_softmax(x)
    }

    /// Layer norm: `(x - mean x)/√(var x + 1e-5)·gamma + beta` for each row (Ba et al. 2016).
    pub fn row_layer_norm<T: Float>(x: T[M, N], gamma: T[N], beta: T[N]) -> T[M, N] {
        layer_norm(x, gamma, beta, eps = 1e-5)
    }

    /// Exact GELU of the layer norm of each row.
    pub fn layer_norm_gelu<T: Float>(x: T[M, N], gamma: T[N], beta: T[N]) -> T[M, N] {
        gelu(layer_norm(x, gamma, beta, eps = 1e-5))
    }

    /// Layer norm of a residual connection: `layer_norm(x + r)`, and the sum itself for the next connection.
    pub fn add_layer_norm<T: Float>(x: T[M, N], r: T[M, N], gamma: T[N], beta: T[N]) -> (T[M, N], T[M, N]) {
        let sum = x + r;
        (layer_norm(sum, gamma, beta, eps = 1e-5), sum)
    }

    /// RMS norm: `x/√(mean x² + 1e-6)·gamma` for each row (Zhang and Sennrich 2019).
    pub fn row_rms_norm<T: Float>(x: T[M, N], gamma: T[N]) -> T[M, N] {
        rms_norm(x, gamma, eps = 1e-6)
    }

    /// SiLU of the RMS norm of each row.
    pub fn rms_norm_silu<T: Float>(x: T[M, N], gamma: T[N]) -> T[M, N] {
        silu(rms_norm(x, gamma, eps = 1e-6))
    }

    /// ReLU of a batch norm with given statistics (inference): `x: [B, C, L]`, the others `[C]` (Ioffe and Szegedy
    /// 2015, `eps` 1e-5).
    pub fn batch_norm_relu<T: Float>(x: T[B, C, L], mean: T[C], var: T[C], gamma: T[C], beta: T[C]) -> T[B, C, L] {
        relu(batch_norm(x, mean, var, gamma, beta, eps = 1e-5))
    }
}
