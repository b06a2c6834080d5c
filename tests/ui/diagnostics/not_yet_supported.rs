// Gradients are planned.
use fuse_gpu::fuse;

fuse! {
    #[differentiable]
    pub fn loss(x: f32[N]) -> f32 {
        sum(x * x)
    }
}

fn main() {}
