// A half among whole numbers.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(x: i32[N]) -> i32[N] {
        x + 0.5
    }
}

fn main() {}
