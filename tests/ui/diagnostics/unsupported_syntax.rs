// Tensors are used without `&`.
use fuse_gpu::fuse;

fuse! {
    pub fn product(a: f32[M, K], b: f32[K, N]) -> f32[M, N] {
        matmul(&a, &b)
    }
}

fn main() {}
