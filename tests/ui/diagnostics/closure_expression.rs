// A function in the block does it.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        let twice = |y| y * 2.0;
        twice(x)
    }
}

fn main() {}
