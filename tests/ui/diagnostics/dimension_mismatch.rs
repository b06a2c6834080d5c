// One name, two sizes.
use fuse_gpu::fuse;

fuse! {
    pub fn residual(x: f32[N], r: f32[N]) -> f32[N] {
        relu(x) + r
    }

    pub fn block(x: f32[P], r: f32[Q]) -> f32[P] {
        residual(x, r)
    }
}

fn main() {}
