use fuse_gpu::{Error, Tensor1, Tensor2, f16, fuse};

fn sum(x: &Tensor2<f32>, b: &Tensor1<f16>) -> Result<Tensor2<f32>, Error> {
    fuse!(x + b)
}

fn main() {}
