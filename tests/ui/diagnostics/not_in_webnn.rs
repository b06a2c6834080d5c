// WebNN has no arc tangent.
use fuse_gpu::fuse;

fuse! {
    #[webnn]
    pub fn angles(x: f32[M, K], w: f32[K, N]) -> f32[M, N] {
        atan(matmul(x, w))
    }
}

fn main() {}
