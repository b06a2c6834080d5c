// A dimension is not a number of the host.
use fuse_gpu::fuse;

fuse! {
    pub fn normalize(x: f32[N]) -> f32[N] {
        x / N
    }
}

fn main() {}
