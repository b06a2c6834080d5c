// The result's type is not inferred.
use fuse_gpu::fuse;

fuse! {
    pub fn double(x: f32[N]) {
        x * 2.0
    }
}

fn main() {}
