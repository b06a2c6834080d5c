// A transpose changes the order of dimensions.
use fuse_gpu::fuse;

fuse! {
    pub fn turned(x: f32[M, N]) -> f32[M, N] {
        transpose(x)
    }
}

fn main() {}
