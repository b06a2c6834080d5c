use fuse_gpu::{Error, Tensor2, Tensor3, fuse};

fn turn(x: &Tensor2<f32>) -> Result<Tensor3<f32>, Error> {
    fuse!(permute(x, [2, 0, 1]))
}

fn main() {}
