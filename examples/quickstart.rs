//! The README's first page as a program: `cargo run --example quickstart`.

use fuse_gpu::{Device, Tensor1, Tensor2, fuse};

fuse! {
    /// relu(x·w + b + r): a linear layer with a residual connection.
    pub fn linear_residual_relu(x: f32[M, K], w: f32[K, N], b: f32[N], r: f32[M, N]) -> f32[M, N] {
        relu(matmul(x, w) + b + r)
    }
}

fn main() -> Result<(), fuse_gpu::Error> {
    let device = Device::blocking()?;
    let x = Tensor2::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    let w = Tensor2::from_vec(&device, vec![1.0f32, -1.0, 0.5, 0.5, -1.0, 1.0], [3, 2])?;
    let b = Tensor1::from_vec(&device, vec![0.25f32, -0.25], [2])?;
    let r = Tensor2::full(&device, 1.0f32, [2, 2])?;

    let y = linear_residual_relu(&x, &w, &b, &r)?; // one dispatch, typed, shapes checked
    println!("{:?} = {:?}", y.shape(), y.to_vec_blocking()?);

    let z = fuse!(relu(matmul(x, w) + b + r))?; // the same, written in place
    assert_eq!(y.to_vec_blocking()?, z.to_vec_blocking()?);

    println!("{}", linear_residual_relu::PLAN); // what runs, what it reads and writes, and why
    Ok(())
}
