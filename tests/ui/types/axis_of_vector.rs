use fuse_gpu::{Error, Tensor1, fuse};

fn upside_down(v: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> {
    fuse!(flip(v, axis = -2))
}

fn main() {}
