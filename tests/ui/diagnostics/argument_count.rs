// `relu` has one operand.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N]) -> f32[N] {
        relu(x, 0.0)
    }
}

fn main() {}
