// Reductions are planned.
use fuse_gpu::fuse;

fuse! {
    pub fn total(x: f32[N]) -> f32 {
        sum(x)
    }
}

fn main() {}
