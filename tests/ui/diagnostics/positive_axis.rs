// In an expression the rank is known to the type checker only.
use fuse_gpu::{Tensor2, fuse};

fn run(x: &Tensor2<f32>) {
    let _ = fuse!(slice(x, axis = 1, start = 0, end = 4));
}

fn main() {}
