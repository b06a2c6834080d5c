// A misspelled element type.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: float32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
