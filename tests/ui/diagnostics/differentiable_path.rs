// Parameters that no result follows smoothly are errors, listed or not, so that the number of gradients follows from types.
use fuse_gpu::fuse;

fuse! {
    #[differentiable]
    pub fn where_positive(x: f32[N], y: f32[N]) -> f32[N] {
        select(y > 0.0, x, 0.0)
    }

    #[differentiable(b, w)]
    pub fn unused(x: f32[M, K], w: f32[K, N], b: f32[N]) -> f32[M, K] {
        let y = matmul(x, w) + b;
        x + sum(stop_gradient(y))
    }

    #[differentiable(_b)]
    pub fn for_its_shape(x: f32[N], _b: f32[N]) -> f32[N] {
        x
    }
}

fn main() {}
