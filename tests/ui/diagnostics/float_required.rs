// `exp` of whole numbers.
use fuse_gpu::fuse;

fuse! {
    pub fn grow(x: i32[N]) -> i32[N] {
        exp(x)
    }
}

fn main() {}
