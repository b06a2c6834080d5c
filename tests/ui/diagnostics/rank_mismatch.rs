// A matrix for a vector.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) -> f32[N] {
        x * 2.0
    }

    pub fn quadruple(x: f32[M, N]) -> f32[M, N] {
        double(double(x))
    }
}

fn main() {}
