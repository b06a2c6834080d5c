// Without `eps`, a row of zeros has no scale.
use fuse_gpu::fuse;

fuse! {
    pub fn normalize(x: f32[M, N], gamma: f32[N]) -> f32[M, N] {
        rms_norm(x, gamma, eps = 0.0)
    }
}

fn main() {}
