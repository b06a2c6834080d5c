use fuse_gpu::{Error, Tensor1, fuse};

fn turned(v: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> {
    fuse!(transpose(v))
}

fn main() {}
