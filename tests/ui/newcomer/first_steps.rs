// First steps that go wrong: one mistake is one error, and its help is about what was meant.
use fuse_gpu::{Tensor2, fuse};

fuse! {
    pub fn missing_semicolon(x: f32[N]) -> f32[N] {
        let a = relu(x)
        let b = a * 2.0;
        a + b
    }

    pub fn type_of_rust(x: Tensor<f32, 2>, b: f32[N]) -> f32[M, N] {
        x + b
    }

    pub fn too_large(x: f32[99999999999]) -> f32 {
        sum(x)
    }

    pub fn keyword(x: f32[N]) -> f32[N] {
        where(x > 0.0, x, 0.0)
    }

    pub fn sorted(x: f32[N]) -> f32[N] {
        sort(x)
    }

    pub fn last_semicolon(x: f32[N]) -> f32[N] {
        relu(x);
    }

    pub fn other_constant(x: f32[N]) -> f32[N] {
        x + EPS
    }

    pub fn python(x: f32[N]) -> f32[N] {
        x ** 2.0
    }
}

const EPS: f32 = 1e-5;

struct Layer {
    w: Tensor2<f32>,
}

fn forward(x: &Tensor2<f32>, layer: &Layer) {
    let _ = fuse!(matmul(x, layer.w.relu()));
    let _ = fuse!(own(x) + EPS);
}

fn main() {
    _ = forward;
}
