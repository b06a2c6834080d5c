// A generic element type that nothing has.
use fuse_gpu::fuse;

fuse! {
    pub fn double<T: Float>(x: f32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
