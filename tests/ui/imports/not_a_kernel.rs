// A path to a function of Rust, and a call of the macro beside a function of `fuse!`.
use fuse_gpu::fuse;

mod activations {
    pub fn plain() {}
}

mod kernels {
    use fuse_gpu::fuse;

    fuse! {
        pub fn wave(x: f32[N]) -> f32[N] {
            x * tanh(x)
        }
    }
}

fuse! {
    use crate::activations::plain;

    pub fn layer(x: f32[N], b: f32[N]) -> f32[N] {
        plain(x + b)
    }
}

fn main() {
    kernels::wave!(x);
}
