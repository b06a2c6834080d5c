// `T: Float` is `f32` or `f16`.
use fuse_gpu::fuse;

fuse! {
    pub fn double<T: Float>(x: T[N]) -> T[N] {
        x * 2.0
    }

    pub fn count(i: i32[N]) -> i32[N] {
        double(i)
    }
}

fn main() {}
