// A matrix by a vector.
use fuse_gpu::fuse;

fuse! {
    pub fn apply(w: f32[M, K], x: f32[K]) -> f32[M] {
        matmul(w, x)
    }
}

fn main() {}
