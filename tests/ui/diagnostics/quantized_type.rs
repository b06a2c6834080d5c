// Launches read quantized tensors, they do not make them.
use fuse_gpu::fuse;

fuse! {
    pub fn packed(x: f32[K, N]) -> q4[K, N] {
        x
    }

    pub fn number(x: f32[N], s: q4) -> f32[N] {
        x
    }
}

fn main() {}
