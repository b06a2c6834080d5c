//! Embeddings of texts from those of their tokens, and their similarity.

use fuse_macros::fuse;

fuse! {
    /// Mean of the first `lengths[b]` of the `S` rows of each text, scaled to norm 1: `h: [B, S, E]`, `lengths: [B]` →
    /// `[B, E]` (Reimers and Gurevych 2019). The norm is clamped to at least `1e-12`. A text of length 0 gives zeros.
    pub fn mean_pool_normalize<T: Float>(h: T[B, S, E], lengths: i32[B]) -> T[B, E] {
        let real = index(h, axis = 1) < reshape(lengths, [B, 1, 1]);
        // Computes in f32 for any T: f16 has no 1e-12, and 0/0 would be NaN.
        let mean = sum(select(real, h as f32, 0.0), axis = 1) / (max(reshape(lengths, [B, 1]), 1) as f32);
        (mean / max(sqrt(sum(mean * mean, axis = 1, keepdim = true)), 1e-12)) as T
    }

    /// Cosine of the angle between corresponding rows: `x·y/(|x|·|y|)`, with each norm at least `1e-8`. `x, y: [M, N]`
    /// → `[M]`.
    pub fn cosine_similarity<T: Float>(x: T[M, N], y: T[M, N]) -> T[M] {
        // Computes in f32 for any T, as above.
        let (a, b) = (x as f32, y as f32);
        let lengths = max(sqrt(sum(a * a, axis = 1)), 1e-8) * max(sqrt(sum(b * b, axis = 1)), 1e-8);
        (sum(a * b, axis = 1) / lengths) as T
    }
}
