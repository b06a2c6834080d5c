// A mask is not a number.
use fuse_gpu::fuse;

fuse! {
    pub fn mask(x: f32[N], keep: bool[N]) -> f32[N] {
        x * keep
    }
}

fn main() {}
