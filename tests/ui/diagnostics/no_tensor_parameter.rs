// A launch needs a device, which comes with a tensor.
use fuse_gpu::fuse;

fuse! {
    pub fn square(s: f32) -> f32 {
        s * s
    }
}

fn main() {}
