// There is one bound only.
use fuse_gpu::fuse;

fuse! {
    pub fn double<T: Copy>(x: T[N]) -> T[N] {
        x * 2.0
    }
}

fn main() {}
