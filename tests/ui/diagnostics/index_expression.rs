// Values have no brackets.
use fuse_gpu::fuse;

fuse! {
    pub fn first(x: f32[M, N]) -> f32[N] {
        x[0]
    }
}

fn main() {}
