// A misspelled parameter.
use fuse_gpu::fuse;

fuse! {
    pub fn shift(input: f32[N], bias: f32) -> f32[N] {
        inptu + bias
    }
}

fn main() {}
