// Parameters have no `&`; what is updated in place is a tensor.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: &f32[N]) -> f32[N] {
        x * 2.0
    }

    pub fn count(n: &mut f32, x: f32[N]) -> f32[N] {
        *n += 1.0;
        x
    }

    pub fn decay(w: &mut q8[N, K]) {
        *w *= 0.5;
    }
}

fn main() {}
