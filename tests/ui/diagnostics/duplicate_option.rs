// An option given twice.
use fuse_gpu::fuse;

fuse! {
    pub fn head(x: f32[M, N]) -> f32[M, 4] {
        slice(x, axis = 1, end = 4, end = 8)
    }
}

fn main() {}
