use fuse_gpu::{Error, Tensor0, Tensor1, fuse};

fn rows(v: &Tensor1<f32>) -> Result<Tensor0<f32>, Error> {
    fuse!(sum(v, axis = -2))
}

fn main() {}
