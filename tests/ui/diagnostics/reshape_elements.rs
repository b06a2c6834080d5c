// Six columns do not fit four.
use fuse_gpu::fuse;

fuse! {
    pub fn cut(x: f32[M, 6]) -> f32[M, 4] {
        reshape(x, [M, 4])
    }
}

fn main() {}
