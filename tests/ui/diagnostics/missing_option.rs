// Which axis?
use fuse_gpu::fuse;

fuse! {
    pub fn flat(x: f32[N, 1]) -> f32[N] {
        squeeze(x)
    }
}

fn main() {}
