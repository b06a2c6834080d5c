// What is not declared with `&mut` keeps its value.
use fuse_gpu::fuse;

fuse! {
    pub fn step(w: f32[N], g: f32[N], rate: f32) -> f32[N] {
        *w -= rate * g;
        w
    }

    pub fn local(w: &mut f32[N], g: f32[N]) {
        let scaled = g * 0.1;
        *scaled = w;
        *w -= scaled;
    }

    pub fn within(w: &mut f32[N]) {
        *w = { *w = w * 2.0; w };
    }
}

fn main() {}
