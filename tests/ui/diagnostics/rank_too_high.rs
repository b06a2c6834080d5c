// Seven axes.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[A, B, C, D, E, F, G]) -> f32[A, B, C, D, E, F, G] {
        x * 2.0
    }
}

fn main() {}
