// Integers do not change a little.
use fuse_gpu::fuse;

fuse! {
    pub fn slope(x: f32[N], ids: i32[N]) -> i32[N] {
        grad(sum(x * (ids as f32)), wrt = ids)
    }
}

fn main() {}
