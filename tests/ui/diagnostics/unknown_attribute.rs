// A misspelled attribute.
use fuse_gpu::fuse;

fuse! {
    #[no_fusion]
    pub fn double(x: f32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
