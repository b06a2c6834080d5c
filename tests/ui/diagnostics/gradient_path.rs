// The place of the largest element changes by jumps.
use fuse_gpu::fuse;

fuse! {
    pub fn slope(x: f32[N]) -> f32[N] {
        grad(sum(argmax(x, axis = 0, keepdim = true) as f32), wrt = x)
    }
}

fn main() {}
