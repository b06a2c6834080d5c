// `K` is no dimension of `x`.
use fuse_gpu::fuse;

fuse! {
    pub fn head(x: f32[M, N], w: f32[N, K]) -> f32[M, K] {
        matmul(slice(x, axis = K, end = 4), w)
    }
}

fn main() {}
