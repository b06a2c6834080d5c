//! Operations that move elements and compute nothing.

use fuse_artifact::DType;

use super::{
    Element, InterpError, Tensor,
    tensor::{for_each_index, strides},
};

/// Element `index` is `x`'s at `Σ index[d]·steps[d] + offset`.
fn strided<T: Clone>(x: &Tensor<T>, shape: Vec<usize>, steps: &[usize], offset: usize) -> Tensor<T> {
    let mut data = Vec::with_capacity(shape.iter().product());
    for_each_index(&shape, |index| {
        let position: usize = index.iter().zip(steps).map(|(i, step)| i * step).sum();
        data.push(x.data[offset + position].clone());
    });
    Tensor::new(x.dtype, shape, data)
}

pub(super) fn permute<T: Clone>(x: &Tensor<T>, permutation: &[usize]) -> Tensor<T> {
    let from = strides(&x.shape);
    let shape = permutation.iter().map(|&axis| x.shape[axis]).collect();
    let steps: Vec<usize> = permutation.iter().map(|&axis| from[axis]).collect();
    strided(x, shape, &steps, 0)
}

pub(super) fn reshape<T: Clone>(x: &Tensor<T>, shape: Vec<usize>) -> Result<Tensor<T>, InterpError> {
    if shape.iter().product::<usize>() != x.data.len() {
        return Err(InterpError::Movement { op: "reshape", from: x.shape.clone(), to: shape });
    }
    Ok(Tensor::new(x.dtype, shape, x.data.clone()))
}

pub(super) fn slice<T: Clone>(
    x: &Tensor<T>,
    shape: Vec<usize>,
    axis: usize,
    start: usize,
) -> Result<Tensor<T>, InterpError> {
    if start + shape[axis] > x.shape[axis] {
        return Err(InterpError::Movement { op: "slice", from: x.shape.clone(), to: shape });
    }
    let steps = strides(&x.shape);
    let offset = start * steps[axis];
    Ok(strided(x, shape, &steps, offset))
}

pub(super) fn broadcast<T: Clone>(x: &Tensor<T>, shape: Vec<usize>) -> Result<Tensor<T>, InterpError> {
    if x.shape.is_empty() {
        let elements = shape.iter().product();
        return Ok(Tensor::new(x.dtype, shape, vec![x.data[0].clone(); elements]));
    }
    let fits = x.shape.len() == shape.len() && x.shape.iter().zip(&shape).all(|(from, to)| from == to || *from == 1);
    if !fits {
        return Err(InterpError::Movement { op: "broadcast", from: x.shape.clone(), to: shape });
    }
    let steps: Vec<usize> =
        strides(&x.shape).into_iter().zip(&x.shape).map(|(step, &from)| if from == 1 { 0 } else { step }).collect();
    Ok(strided(x, shape, &steps, 0))
}

/// Gathers with clamped coordinates; 0 if the axis is empty.
pub(super) fn take<E: Element>(x: &Tensor<E>, axis: usize, index: &Tensor<E>) -> Result<Tensor<E>, InterpError> {
    let fits =
        x.shape.len() == index.shape.len() && (0..x.shape.len()).all(|d| d == axis || x.shape[d] == index.shape[d]);
    if !fits {
        return Err(InterpError::Movement { op: "take", from: x.shape.clone(), to: index.shape.clone() });
    }
    let (steps, extent) = (strides(&x.shape), x.shape[axis]);
    let mut data = Vec::with_capacity(index.data.len());
    for_each_index(&index.shape, |at| {
        let coordinate = &index.data[data.len()];
        let others: usize =
            at.iter().zip(&steps).enumerate().filter(|&(d, _)| d != axis).map(|(_, (i, step))| i * step).sum();
        data.push(match extent {
            0 => E::exact(0.0),
            _ => E::take(coordinate, extent, |i| x.data[others + i * steps[axis]].clone()),
        });
    });
    Ok(Tensor::new(x.dtype, index.shape.clone(), data))
}

pub(super) fn index<T>(dtype: DType, shape: Vec<usize>, axis: usize, element: impl Fn(usize) -> T) -> Tensor<T> {
    let mut data = Vec::with_capacity(shape.iter().product());
    for_each_index(&shape, |index| data.push(element(index[axis])));
    Tensor::new(dtype, shape, data)
}
