//! Contraction launches: batches, split depth, scratch memory, zero sizes.

use fuse_runtime::{
    __private::{Arg, launch, launch_with, variants},
    Tensor2, Tensor3,
};

use crate::{artifacts, device, ramp};

fn reference(x: &[f32], w: &[f32], [rows, depth, columns]: [usize; 3]) -> Vec<f32> {
    let mut z = vec![0.0; rows * columns];
    for (i, z) in z.iter_mut().enumerate() {
        let (row, column) = (i / columns, i % columns);
        *z = (0..depth).map(|k| x[row * depth + k] * w[k * columns + column]).sum();
    }
    z
}

/// Small integers and halves: sums are exact in `f32`.
fn values(count: usize) -> Vec<f32> {
    ramp(count).iter().map(|value| value % 8.0).collect()
}

#[test]
fn every_variant_multiplies_every_size() {
    let device = device();
    let function = artifacts::matmul();
    for [b, m, k, n] in [[1, 1, 1, 1], [1, 3, 5, 7], [2, 3, 8, 5], [3, 1, 600, 2], [1, 17, 64, 33], [4, 1, 4, 1]] {
        let (x, w) = (values(b * m * k), values(k * n));
        let tensors =
            (Tensor3::from_slice(&device, &x, [b, m, k]).unwrap(), Tensor2::from_slice(&device, &w, [k, n]).unwrap());
        let args = [Arg::from(&tensors.0), Arg::from(&tensors.1)];
        let legal = variants(function, &args).unwrap().remove(0).legal;
        assert_eq!(legal.len(), if k % 4 == 0 { 2 } else { 1 });
        for (variant, name) in legal {
            let z = launch_with(function, &args, &[variant]).unwrap().remove(0);
            assert_eq!(z.shape(), [b, m, n]);
            let z = Tensor3::<f32>::from_raw(z).to_vec_blocking().unwrap();
            assert_eq!(z, reference(&x, &w, [b * m, k, n]), "{b}x{m}x{k}x{n}, {name}");
        }
    }
}

#[test]
fn shared_right_operand_makes_one_matrix_of_the_batch() {
    let explanation = device().explain(artifacts::matmul(), &[&[4, 8, 16], &[16, 32]]).unwrap();
    assert_eq!(explanation.kernels[0].extents, [1, 32, 32, 16]);
}

#[test]
fn empty_depth_gives_zeros_and_empty_output_nothing() {
    let device = device();
    let function = artifacts::matmul();
    // Recycled memory is not zero.
    drop(Tensor3::<f32>::full(&device, 9.0, [1, 2, 3]).unwrap());
    for [m, k, n] in [[2, 0, 3], [0, 4, 3], [2, 4, 0]] {
        let x = Tensor3::<f32>::full(&device, 1.0, [1, m, k]).unwrap();
        let w = Tensor2::<f32>::full(&device, 1.0, [k, n]).unwrap();
        let [z] = launch(function, &[(&x).into(), (&w).into()]).unwrap();
        assert_eq!(Tensor3::<f32>::from_raw(z).to_vec_blocking().unwrap(), vec![0.0; m * n], "{m}x{k}x{n}");
    }
}
