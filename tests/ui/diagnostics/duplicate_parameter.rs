// Two parameters of one name.
use fuse_gpu::fuse;

fuse! {
    pub fn add_both(x: f32[N], x: f32[N]) -> f32[N] {
        x + x
    }
}

fn main() {}
