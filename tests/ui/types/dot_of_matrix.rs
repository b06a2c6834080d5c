use fuse_gpu::{Error, Tensor0, Tensor1, Tensor2, fuse};

fn product(x: &Tensor2<f32>, v: &Tensor1<f32>) -> Result<Tensor0<f32>, Error> {
    fuse!(dot(x, v))
}

fn main() {}
