// What has no gradient: names of nothing, numbers of the host, integers, quantized weights. Callers get no second error.
use fuse_gpu::{Error, Tensor1, fuse};

fuse! {
    #[differentiable(x, y)]
    pub fn unknown(x: f32[N]) -> f32 {
        sum(x * x)
    }

    #[differentiable(scale, ids)]
    pub fn not_float_tensors(x: f32[N], scale: f32, ids: i32[N]) -> f32[N] {
        x * scale + (ids as f32)
    }

    #[differentiable(w)]
    pub fn quantized(x: f32[M, K], w: q8[K, N]) -> f32[M, N] {
        matmul(x, w)
    }

    #[differentiable]
    pub fn no_float(ids: i32[N]) -> f32[N] {
        ids as f32
    }

    #[differentiable(x, x)]
    pub fn twice(x: f32[N]) -> f32[N] {
        x
    }

    #[differentiable]
    pub fn updates(x: f32[N], w: &mut f32[N]) -> f32 {
        *w -= x;
        sum(x * w)
    }

    #[differentiable("x")]
    pub fn malformed(x: f32[N]) -> f32[N] {
        x
    }
}

pub fn slope(x: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> {
    Ok(unknown::value_and_grad(x)?.1)
}

fn main() {}
