// The bias has one entry per row, not per column.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(x: f32[M, N], bias: f32[M]) -> f32[M, N] {
        x + bias
    }
}

fn main() {}
