// A dimension becomes a number by a conversion.
use fuse_gpu::fuse;

fuse! {
    pub fn normalize(x: f32[N]) -> f32[N] {
        x / N
    }
}

fn main() {}
