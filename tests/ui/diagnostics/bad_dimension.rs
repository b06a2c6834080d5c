// Sizes are not divided.
use fuse_gpu::fuse;

fuse! {
    pub fn halves(x: f32[N]) -> f32[2, N / 2] {
        reshape(x, [2, N / 2])
    }
}

fn main() {}
