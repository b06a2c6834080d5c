// `f16` is computed, `f32` declared.
use fuse_gpu::fuse;

fuse! {
    pub fn half(x: f32[N]) -> f32[N] {
        x as f16
    }
}

fn main() {}
