// A body ends with its value.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        return x * 2.0
    }
}

fn main() {}
