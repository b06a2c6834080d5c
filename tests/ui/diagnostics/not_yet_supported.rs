// Quantized weights are planned.
use fuse_gpu::fuse;

fuse! {
    pub fn weights(x: f32[N]) -> f32[N] {
        dequantize(x)
    }
}

fn main() {}
