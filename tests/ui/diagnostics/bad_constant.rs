// A macro sees the name of a constant of Rust, and never its value.
use fuse_gpu::fuse;

const EPS: f32 = 1e-5;

fuse! {
    const GUARD: f32 = crate::EPS;

    pub fn guarded(x: f32[N]) -> f32[N] {
        x / (abs(x) + GUARD)
    }
}

fn main() {
    _ = EPS;
}
