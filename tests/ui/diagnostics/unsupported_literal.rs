// Text among numbers.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(x: f32[N]) -> f32[N] {
        x + "1.0"
    }
}

fn main() {}
