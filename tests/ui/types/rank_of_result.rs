use fuse_gpu::{Error, Tensor1, Tensor2, fuse};

fn sum(x: &Tensor2<f32>, b: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> {
    fuse!(x + b)
}

fn main() {}
