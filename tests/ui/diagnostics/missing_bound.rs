// A generic element type needs `: Float`.
use fuse_gpu::fuse;

fuse! {
    pub fn double<T>(x: T[N]) -> T[N] {
        x * 2.0
    }
}

fn main() {}
