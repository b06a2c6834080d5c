// All axes are listed.
use fuse_gpu::fuse;

fuse! {
    pub fn reorder(x: f32[A, B, C]) -> f32[A, C, B] {
        permute(x, [1, 0])
    }
}

fn main() {}
