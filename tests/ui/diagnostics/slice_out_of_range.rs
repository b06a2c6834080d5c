// Eight columns have no ninth.
use fuse_gpu::fuse;

fuse! {
    pub fn head(x: f32[M, 8]) -> f32[M, 9] {
        slice(x, axis = 1, start = 0, end = 9)
    }
}

fn main() {}
