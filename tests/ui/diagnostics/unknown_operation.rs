// A misspelled operation.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N]) -> f32[N] {
        rleu(x)
    }
}

fn main() {}
