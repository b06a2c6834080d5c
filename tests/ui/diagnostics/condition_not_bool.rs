// A condition is a comparison.
use fuse_gpu::fuse;

fuse! {
    pub fn pick(x: f32[N], y: f32[N]) -> f32[N] {
        select(x, x, y)
    }
}

fn main() {}
