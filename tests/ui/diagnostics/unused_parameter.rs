// Warned of as Rust warns of unused parameters.
#![deny(unused)]

use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N], y: f32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
