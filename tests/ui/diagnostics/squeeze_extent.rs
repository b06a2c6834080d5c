// Only axes of 1 can go.
use fuse_gpu::fuse;

fuse! {
    pub fn flat(x: f32[M, N]) -> f32[M] {
        squeeze(x, axis = 1)
    }
}

fn main() {}
