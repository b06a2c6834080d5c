// What is declared with `&mut` takes a new value.
use fuse_gpu::fuse;

fuse! {
    pub fn step(w: &mut f32[N], g: f32[N]) -> f32[N] {
        w - g
    }
}

fn main() {}
