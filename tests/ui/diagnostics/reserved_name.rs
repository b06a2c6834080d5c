// A function with the name of an operation.
use fuse_gpu::fuse;

fuse! {
    pub fn relu(x: f32[N]) -> f32[N] {
        max(x, 0.0)
    }
}

fn main() {}
