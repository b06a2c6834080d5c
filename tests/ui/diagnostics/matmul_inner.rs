// The weight is stored as `[N, K]`.
use fuse_gpu::fuse;

fuse! {
    pub fn linear(x: f32[M, K], w: f32[N, K]) -> f32[M, N] {
        matmul(x, w)
    }
}

fn main() {}
