// Functions are inlined.
use fuse_gpu::fuse;

fuse! {
    pub fn even(x: f32[N]) -> f32[N] {
        odd(x - 1.0)
    }

    pub fn odd(x: f32[N]) -> f32[N] {
        even(x - 1.0)
    }
}

fn main() {}
