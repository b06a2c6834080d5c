// Too large for an `i32`.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(x: i32[N]) -> i32[N] {
        x + 3000000000
    }
}

fn main() {}
