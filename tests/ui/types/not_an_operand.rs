use fuse_gpu::{Error, Tensor1, fuse};

fn scaled(name: &str) -> Result<Tensor1<f32>, Error> {
    fuse!(exp(name))
}

fn main() {}
