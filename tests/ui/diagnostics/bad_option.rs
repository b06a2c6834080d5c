// An axis is a whole number.
use fuse_gpu::fuse;

fuse! {
    pub fn flat(x: f32[N, 1]) -> f32[N] {
        squeeze(x, axis = 1.0)
    }
}

fn main() {}
