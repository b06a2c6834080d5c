use fuse_gpu::{Error, Tensor1, fuse};

fn activated(x: &Tensor1<i32>) -> Result<Tensor1<i32>, Error> {
    fuse!(sigmoid(x))
}

fn main() {}
