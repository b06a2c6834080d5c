// Both sides of a comparison have one dtype.
use fuse_gpu::fuse;

fuse! {
    pub fn less(x: f32[N], y: f16[N]) -> bool[N] {
        x < y
    }
}

fn main() {}
