// A vector is declared.
use fuse_gpu::fuse;

fuse! {
    pub fn scale(x: f32[M, N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
