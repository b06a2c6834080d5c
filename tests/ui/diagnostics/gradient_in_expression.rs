// An expression takes shapes from its operands when it runs.
use fuse_gpu::{Tensor1, fuse};

pub fn slope(x: &Tensor1<f32>) -> Result<Tensor1<f32>, fuse_gpu::Error> {
    fuse!(grad(sum(x * x), wrt = x))
}

fn main() {}
