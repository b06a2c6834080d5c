// An operand is not a list.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N], y: f32[N]) -> f32[N] {
        relu([x, y])
    }
}

fn main() {}
