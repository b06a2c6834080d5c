// A parameter takes one new value; reads see the old one.
use fuse_gpu::fuse;

fuse! {
    pub fn step(w: &mut f32[N], g: f32[N]) {
        *w *= 0.99;
        *w -= g;
    }
}

fn main() {}
