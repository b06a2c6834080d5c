// Indices count elements.
use fuse_gpu::fuse;

fuse! {
    pub fn look_up(table: f32[V, D], ids: f32[N]) -> f32[N, D] {
        embedding(table, ids)
    }
}

fn main() {}
