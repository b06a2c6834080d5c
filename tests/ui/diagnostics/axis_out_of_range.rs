// Axes are counted from 0.
use fuse_gpu::fuse;

fuse! {
    pub fn flat(x: f32[N, 1]) -> f32[N] {
        squeeze(x, axis = 2)
    }
}

fn main() {}
