// A block holds functions only.
use fuse_gpu::fuse;

fuse! {
    pub struct Layer {
        weight: f32[M, N],
    }
}

fn main() {}
