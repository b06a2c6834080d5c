// A tile has rows, columns and a depth.
use fuse_gpu::fuse;

fuse! {
    #[schedule(tile = [64, 64])]
    pub fn product(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
        matmul(a, b)
    }
}

fn main() {}
