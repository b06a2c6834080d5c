// Values are not references.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        2.0 * *x
    }
}

fn main() {}
