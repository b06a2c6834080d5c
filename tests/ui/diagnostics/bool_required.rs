// `&&` of numbers.
use fuse_gpu::fuse;

fuse! {
    pub fn both(x: f32[N], y: f32[N]) -> bool[N] {
        x && y
    }
}

fn main() {}
