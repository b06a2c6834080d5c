// Warned of as Rust warns of unused variables.
#![deny(unused)]

use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        let y = x * x;
        x * 2.0
    }
}

fn main() {}
