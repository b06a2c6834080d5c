// A vector has no second axis.
use fuse_gpu::fuse;

fuse! {
    pub fn column(x: f32[N]) -> f32[N, 1] {
        transpose(x)
    }
}

fn main() {}
