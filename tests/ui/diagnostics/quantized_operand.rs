// Quantized weights are right operands of products; elsewhere they are dequantized in place.
use fuse_gpu::fuse;

fuse! {
    pub fn added(x: f32[K, N], w: q4[K, N]) -> f32[K, N] {
        x + w
    }

    pub fn left(w: q4[M, K], x: f32[K, N]) -> f32[M, N] {
        matmul(w, x)
    }

    fn linear(x: f32[M, K], w: q8[K, N]) -> f32[M, N] {
        matmul(x, w)
    }

    pub fn passed(x: f32[M, K], w: q4[K, N]) -> f32[M, N] {
        linear(x, w)
    }
}

fn main() {}
