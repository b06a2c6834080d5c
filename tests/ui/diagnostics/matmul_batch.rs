// Batches of different sizes.
use fuse_gpu::fuse;

fuse! {
    pub fn products(a: f32[P, M, K], b: f32[Q, K, N]) -> f32[P, M, N] {
        matmul(a, b)
    }
}

fn main() {}
