// Rust has no chained comparisons either.
use fuse_gpu::fuse;

fuse! {
    pub fn inside(x: f32[N]) -> bool[N] {
        0.0 < x < 1.0
    }
}

fn main() {}
