// A choice for each element is `select`.
use fuse_gpu::fuse;

fuse! {
    pub fn positive(x: f32[N]) -> f32[N] {
        if x > 0.0 { x } else { 0.0 }
    }
}

fn main() {}
