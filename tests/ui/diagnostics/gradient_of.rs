// A gradient is of one number.
use fuse_gpu::fuse;

fuse! {
    pub fn slope(x: f32[N]) -> f32[N] {
        grad(x * x, wrt = x)
    }
}

fn main() {}
