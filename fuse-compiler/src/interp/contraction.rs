use fuse_artifact::DType;

use super::{
    Element, Tensor,
    tensor::{for_each_index, strides},
};

/// `[.., M, K] × [.., K, N] → [.., M, N]` (`shape`); batch axes of operands may have extent 1.
pub(super) fn matmul<E: Element>(lhs: &Tensor<E>, rhs: &Tensor<E>, shape: Vec<usize>) -> Tensor<E> {
    let (dtype, batch) = (lhs.dtype, shape.len() - 2);
    let (m, n, k) = (shape[batch], shape[batch + 1], lhs.shape[batch + 1]);
    let lhs_steps = batch_steps(&lhs.shape, batch);
    let rhs_steps = batch_steps(&rhs.shape, batch);
    let mut data = Vec::with_capacity(shape.iter().product());
    for_each_index(&shape[..batch], |index| {
        let lhs = &lhs.data[offset(index, &lhs_steps)..][..m * k];
        let rhs = &rhs.data[offset(index, &rhs_steps)..][..k * n];
        let columns: Vec<Vec<E>> =
            (0..n).map(|column| (0..k).map(|row| rhs[row * n + column].clone()).collect()).collect();
        for row in 0..m {
            let row = &lhs[row * k..][..k];
            data.extend(columns.iter().map(|column| E::dot(dtype, row, column)));
        }
    });
    Tensor::new(lhs.dtype, shape, data)
}

fn batch_steps(shape: &[usize], batch: usize) -> Vec<usize> {
    strides(shape)
        .into_iter()
        .zip(shape)
        .take(batch)
        .map(|(step, &extent)| if extent == 1 { 0 } else { step })
        .collect()
}

fn offset(index: &[usize], steps: &[usize]) -> usize {
    index.iter().zip(steps).map(|(i, step)| i * step).sum()
}

pub(super) fn dot(dtype: DType, x: &[f64], y: &[f64]) -> f64 {
    let pairs = x.iter().zip(y);
    match dtype {
        DType::I32 => pairs.fold(0i32, |sum, (&x, &y)| sum.wrapping_add((x as i32).wrapping_mul(y as i32))).into(),
        DType::U32 | DType::Bool => {
            pairs.fold(0u32, |sum, (&x, &y)| sum.wrapping_add((x as u32).wrapping_mul(y as u32))).into()
        }
        DType::F32 | DType::F16 => pairs.map(|(x, y)| x * y).sum(),
    }
}
