// Nothing says how large `M` is.
use fuse_gpu::fuse;

fuse! {
    pub fn tile(x: f32[N]) -> f32[M, N] {
        broadcast_to(x, [M, N])
    }
}

fn main() {}
