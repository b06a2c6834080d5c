// How large?
use fuse_gpu::fuse;

fuse! {
    pub fn ramp(_x: f32[N]) -> i32[N, N] {
        transpose(index(axis = 0))
    }
}

fn main() {}
