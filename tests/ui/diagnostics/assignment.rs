// Bindings are immutable.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        x *= 2.0;
        x
    }
}

fn main() {}
