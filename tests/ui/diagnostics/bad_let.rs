// Bindings need no `mut`.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        let mut y = x * 2.0;
        y
    }
}

fn main() {}
