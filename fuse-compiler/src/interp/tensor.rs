//! Tensors of the interpreter.

use fuse_artifact::DType;

use super::InterpError;

/// Tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    /// Dtype.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// Row-major elements.
    pub data: Vec<T>,
}

/// Tensor of plain numbers.
pub type Value = Tensor<f64>;

impl Value {
    /// Creates a tensor of `data`.
    ///
    /// # Errors
    /// If `data` does not match `shape`.
    pub fn from_data(dtype: DType, shape: &[usize], data: Vec<f64>) -> Result<Self, InterpError> {
        if data.len() != shape.iter().product::<usize>() {
            return Err(InterpError::DataLength { shape: shape.to_vec(), found: data.len() });
        }
        Ok(Self { dtype, shape: shape.to_vec(), data })
    }

    /// Creates a host scalar.
    pub fn scalar(dtype: DType, x: f64) -> Self {
        Self { dtype, shape: vec![], data: vec![x] }
    }
}

impl<T> Tensor<T> {
    pub(super) fn new(dtype: DType, shape: Vec<usize>, data: Vec<T>) -> Self {
        debug_assert_eq!(data.len(), shape.iter().product::<usize>());
        Self { dtype, shape, data }
    }

    pub(super) fn map<U>(&self, f: impl FnMut(&T) -> U) -> Tensor<U> {
        Tensor::new(self.dtype, self.shape.clone(), self.data.iter().map(f).collect())
    }

    pub(super) fn zip<U, V>(&self, other: &Tensor<U>, mut f: impl FnMut(&T, &U) -> V) -> Tensor<V> {
        let data = self.data.iter().zip(&other.data).map(|(x, y)| f(x, y)).collect();
        Tensor::new(self.dtype, self.shape.clone(), data)
    }

    pub(super) fn with_dtype(mut self, dtype: DType) -> Self {
        self.dtype = dtype;
        self
    }
}

/// In elements.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

pub(super) fn for_each_index(shape: &[usize], mut f: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        f(&index);
        let Some(axis) = (0..shape.len()).rev().find(|&axis| index[axis] + 1 < shape[axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}
