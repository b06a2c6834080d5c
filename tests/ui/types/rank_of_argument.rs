use fuse_gpu::{Error, Tensor2, Tensor3, fuse};

fuse! {
    fn wave(x: f32[M, N]) -> f32[M, N] {
        sin(x)
    }
}

fn waves(x: &Tensor3<f32>) -> Result<Tensor2<f32>, Error> {
    fuse!({
        use wave;
        wave(x)
    })
}

fn main() {}
