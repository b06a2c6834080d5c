// Two values where one is declared.
use fuse_gpu::fuse;

fuse! {
    pub fn both(x: f32[N]) -> f32[N] {
        (relu(x), relu(-x))
    }
}

fn main() {}
