//! Chains of element-wise operations, and the softmax of a reshaped tensor.

use fuse_macros::fuse;

fuse! {
    /// `(a + b)·c`, element by element.
    pub fn add_mul<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        (a + b) * c
    }

    /// `max(a + b, 0)`, element by element.
    pub fn add_relu<T: Float>(a: T[N], b: T[N]) -> T[N] {
        relu(a + b)
    }

    /// `1/(1 + e^-(a·b + c))`, element by element.
    pub fn mul_add_sigmoid<T: Float>(a: T[N], b: T[N], c: T[N]) -> T[N] {
        sigmoid(a * b + c)
    }

    /// Softmax of each matrix of a batch over all its elements: `x: [B, M, N]` → `[B, M·N]`.
    pub fn reshape_softmax<T: Float>(x: T[B, M, N]) -> T[B, M * N] {
        softmax(reshape(x, [B, M * N]))
    }

    /// ReLU, then dropout with probability `p`: kept elements are scaled by `1/(1 - p)`. The mask depends only on
    /// `seed` and position (Philox4x32-10, Salmon et al. 2011), so it is the same on every device.
    pub fn relu_dropout<T: Float>(x: T[M, N], p: f32, seed: u32) -> T[M, N] {
        dropout(relu(x), p, seed)
    }
}
