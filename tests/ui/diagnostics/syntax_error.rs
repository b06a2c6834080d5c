// The operator is missing.
use fuse_gpu::fuse;

fuse! {
    pub fn scale(x: f32[N], s: f32) -> f32[N] {
        x s
    }
}

fn main() {}
