// GPUs have no 64-bit floats worth using.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f64[N]) -> f64[N] {
        x * 2.0
    }
}

fn main() {}
