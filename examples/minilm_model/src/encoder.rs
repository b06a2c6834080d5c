//! Kernels of the encoder: token embeddings, a transformer layer, and pooling (Devlin et al. 2019; Reimers and Gurevych
//! 2019).
//!
//! A batch has `B` texts, padded to `S` tokens, of which `lengths` are real. Weights are `[outputs, inputs]`, as in
//! PyTorch.

use fuse_gpu::fuse;

/// Features of a token.
pub const WIDTH: usize = 384;

/// Hidden features of the feed-forward block.
pub const HIDDEN: usize = 1536;

fuse! {
    /// Layer-normalized sums of word, position and segment embeddings; all tokens are of segment 0.
    pub fn embed_tokens<T: Float>(
        ids: i32[B, S],
        words: T[V, 384], positions: T[P, 384], segments: T[2, 384],
        gamma: T[384], beta: T[384],
    ) -> T[B, S, 384] {
        let position = gather(positions, index(ids, axis = 1));
        let segment = slice(segments, axis = 0, start = 0, end = 1);
        layer_norm(gather(words, ids) + position + segment, gamma, beta, eps = 1e-12)
    }

    /// x·wᵀ + b.
    fn linear<T: Float>(x: T[B, S, K], w: T[N, K], b: T[N]) -> T[B, S, N] {
        matmul(x, transpose(w)) + b
    }

    /// Splits the features into 12 heads of 32, as a batch axis.
    fn heads<T: Float>(x: T[B, S, 384]) -> T[B, 12, S, 32] {
        permute(reshape(x, [B, S, 12, 32]), [0, 2, 1, 3])
    }

    /// Attention over the real tokens of a text and a feed-forward block, each with a residual connection and a layer
    /// norm after it.
    pub fn encoder_layer<T: Float>(
        h: T[B, S, 384], lengths: i32[B],
        wq: T[384, 384], bq: T[384], wk: T[384, 384], bk: T[384], wv: T[384, 384], bv: T[384],
        wo: T[384, 384], bo: T[384], attention_gamma: T[384], attention_beta: T[384],
        w1: T[1536, 384], b1: T[1536], w2: T[384, 1536], b2: T[384], output_gamma: T[384], output_beta: T[384],
    ) -> T[B, S, 384] {
        let q = heads(linear(h, wq, bq));
        let k = heads(linear(h, wk, bk));
        let v = heads(linear(h, wv, bv));

        let scores = matmul(q, transpose(k)) / sqrt(32.0);
        let real = index(scores, axis = 3) < reshape(lengths, [B, 1, 1, 1]);
        let context = matmul(softmax(select(real, scores, -inf)), v);
        let merged = reshape(permute(context, [0, 2, 1, 3]), [B, S, 384]);
        let a = layer_norm(linear(merged, wo, bo) + h, attention_gamma, attention_beta, eps = 1e-12);

        let hidden = gelu(linear(a, w1, b1));
        layer_norm(linear(hidden, w2, b2) + a, output_gamma, output_beta, eps = 1e-12)
    }

    /// The mean over the real tokens of each text, scaled to length 1; in `f32` for every `T`.
    pub fn pool<T: Float>(h: T[B, S, 384], lengths: i32[B]) -> f32[B, 384] {
        let real = index(h, axis = 1) < reshape(lengths, [B, 1, 1]);
        let mean = sum(select(real, h as f32, 0.0), axis = 1) / (reshape(lengths, [B, 1]) as f32);
        mean * rsqrt(sum(mean * mean, axis = 1, keepdim = true))
    }
}
