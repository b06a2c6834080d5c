// Launches are queued, so that a kernel need not be `async`.
use fuse_gpu::fuse;

fuse! {
    pub async fn double(x: f32[N]) -> f32[N] {
        x * 2.0
    }
}

fn main() {}
