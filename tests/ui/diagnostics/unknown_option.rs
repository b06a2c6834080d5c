// A misspelled option.
use fuse_gpu::fuse;

fuse! {
    pub fn head(x: f32[M, N]) -> f32[M, 4] {
        slice(x, axis = 1, strat = 0, end = 4)
    }
}

fn main() {}
