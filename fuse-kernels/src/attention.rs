//! Attention: one kernel per function, with memory linear in the sequence length (method of Dao et al. 2022).
//!
//! Queries are `[B, H, S, D]`, keys and values `[B, H, L, D]`, for `B` texts and `H` heads of size `D`; `L` is `S` in
//! self-attention. Scores are `q·kᵀ/√D`. A fully masked query gives NaN, as a softmax over no elements.

use fuse_macros::fuse;

fuse! {
    /// Cross-attention: `softmax(q·kᵀ/√D)·v` (Vaswani et al. 2017).
    pub fn cross_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, L, D], v: T[B, H, L, D]) -> T[B, H, S, D] {
        matmul(softmax(matmul(q, transpose(k)) / (sqrt(D as f32) as T)), v)
    }

    /// Self-attention without a mask.
    pub fn self_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D]) -> T[B, H, S, D] {
        cross_attention(q, k, v)
    }

    /// Causal self-attention: a query attends to itself and earlier keys.
    pub fn causal_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D]) -> T[B, H, S, D] {
        let scores = matmul(q, transpose(k)) / (sqrt(D as f32) as T);
        matmul(softmax(select(index(scores, axis = 3) <= index(scores, axis = 2), scores, -inf)), v)
    }

    /// Self-attention in a window: a query attends to itself and the `window - 1` keys before it (Beltagy et al. 2020).
    pub fn windowed_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D], window: i32) -> T[B, H, S, D] {
        let scores = matmul(q, transpose(k)) / (sqrt(D as f32) as T);
        let (query, key) = (index(scores, axis = 2), index(scores, axis = 3));
        matmul(softmax(select(key <= query && key > query - window, scores, -inf)), v)
    }

    /// Causal self-attention with linear biases: each head adds `slopes[h]·(key - query)` to its scores (Press et al.
    /// 2022, "ALiBi").
    pub fn alibi_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D], slopes: T[H]) -> T[B, H, S, D] {
        let scores = matmul(q, transpose(k)) / (sqrt(D as f32) as T);
        let distance = index(scores, axis = 3) - index(scores, axis = 2);
        let biased = scores + reshape(slopes, [1, H, 1, 1]) * (distance as T);
        matmul(softmax(select(distance <= 0, biased, -inf)), v)
    }

    /// Self-attention over padded texts: masks the keys from `lengths[b]` on.
    pub fn padded_attention<T: Float>(q: T[B, H, S, D], k: T[B, H, S, D], v: T[B, H, S, D], lengths: i32[B]) -> T[B, H, S, D] {
        let scores = matmul(q, transpose(k)) / (sqrt(D as f32) as T);
        matmul(softmax(select(index(scores, axis = 3) < reshape(lengths, [B, 1, 1, 1]), scores, -inf)), v)
    }

    /// Grouped-query attention: `G` query heads share each of the `H` key and value heads (Ainslie et al. 2023).
    pub fn grouped_attention<T: Float>(q: T[B, H, G, S, D], k: T[B, H, L, D], v: T[B, H, L, D]) -> T[B, H, G, S, D] {
        let (k, v) = (reshape(k, [B, H, 1, L, D]), reshape(v, [B, H, 1, L, D]));
        matmul(softmax(matmul(q, transpose(k)) / (sqrt(D as f32) as T)), v)
    }
}
