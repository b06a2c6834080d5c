// `dot` is for vectors.
use fuse_gpu::fuse;

fuse! {
    pub fn product(a: f32[M, K], b: f32[K]) -> f32[M] {
        dot(a, b)
    }
}

fn main() {}
