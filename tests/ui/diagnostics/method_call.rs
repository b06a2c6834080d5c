// Operations are functions.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N]) -> f32[N] {
        x.relu()
    }
}

fn main() {}
