//! Losses: device numbers (rank 0), without a round trip.

use fuse_macros::fuse;

fuse! {
    /// Mean squared error: `mean (x - y)²`.
    pub fn mse<T: Float>(x: T[M, N], y: T[M, N]) -> T {
        mean((x - y) * (x - y))
    }

    /// Mean cross-entropy of rows of logits against class numbers: `mean (logsumexp xᵢ - xᵢ[classᵢ])`. `logits: [M,
    /// C]`, `classes: [M]`; a number outside `0..C` counts as the nearest class.
    pub fn cross_entropy<T: Float>(logits: T[M, C], classes: i32[M]) -> T {
        let chosen = select(index(logits, axis = 1) == reshape(max(min(classes, (C as i32) - 1), 0), [M, 1]), logits, 0.0);
        mean(logsumexp(logits, axis = 1) - sum(chosen, axis = 1))
    }
}
