// The end lies before the start.
use fuse_gpu::fuse;

fuse! {
    pub fn middle(x: f32[M, N]) -> f32[M, 4] {
        slice(x, axis = 1, start = 8, end = 4)
    }
}

fn main() {}
