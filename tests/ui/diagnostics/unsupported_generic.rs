// Dimensions are not declared.
use fuse_gpu::fuse;

fuse! {
    pub fn double<const N: usize>(x: f32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
