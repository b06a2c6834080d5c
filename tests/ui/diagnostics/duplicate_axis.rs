// An axis listed twice.
use fuse_gpu::fuse;

fuse! {
    pub fn reorder(x: f32[A, B, C]) -> f32[C, A, B] {
        permute(x, [2, 0, 0])
    }
}

fn main() {}
