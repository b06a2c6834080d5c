// The value of `relu(x)` is lost.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N]) -> f32[N] {
        relu(x);
        x
    }
}

fn main() {}
