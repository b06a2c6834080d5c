// There is no `f64`.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(x: f32[N]) -> f32[N] {
        x + 1.0f64
    }
}

fn main() {}
