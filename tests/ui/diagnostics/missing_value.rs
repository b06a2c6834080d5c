// The `;` throws the value away.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        let y = x * 2.0;
    }
}

fn main() {}
