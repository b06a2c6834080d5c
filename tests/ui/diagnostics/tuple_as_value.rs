// `relu` has one operand.
use fuse_gpu::fuse;

fuse! {
    pub fn both(x: f32[N], y: f32[N]) -> f32[N] {
        relu((x, y))
    }
}

fn main() {}
