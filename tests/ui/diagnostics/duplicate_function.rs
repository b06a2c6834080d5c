// Two functions of one name.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        x * 2.0
    }

    pub fn double(y: f16[N]) -> f16[N] {
        y * 2.0
    }
}

fn main() {}
