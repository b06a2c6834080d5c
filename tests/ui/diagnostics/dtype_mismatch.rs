// Conversions are written out.
use fuse_gpu::fuse;

fuse! {
    pub fn scale(x: f32[N], s: i32[N]) -> f32[N] {
        x * s
    }
}

fn main() {}
