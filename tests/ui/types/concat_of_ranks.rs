use fuse_gpu::{Error, Tensor1, Tensor2, fuse};

fn join(x: &Tensor2<f32>, v: &Tensor1<f32>) -> Result<Tensor2<f32>, Error> {
    fuse!(concat([x, v], axis = -1))
}

fn main() {}
