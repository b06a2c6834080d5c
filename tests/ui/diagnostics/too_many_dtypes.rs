// Three variables that nothing ties together.
use fuse_gpu::{Tensor1, fuse};

fn run(a: &Tensor1<f32>, b: &Tensor1<u32>, c: &Tensor1<i32>) {
    let _ = fuse!((a + 1, b + 1, c + 1));
}

fn main() {}
