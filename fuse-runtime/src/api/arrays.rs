//! Conversion from and to `ndarray` (feature `ndarray`).

use ndarray::{Array, ArrayBase, Data, Dim, Dimension, Ix, IxDyn};

use crate::{
    api::{device::Device, tensor::Tensor},
    context::{element::Element, error::Error},
};

impl<T: Element, const D: usize> Tensor<T, D>
where
    Dim<[Ix; D]>: Dimension,
{
    /// Uploads the elements of `array` in logical order, whatever its memory order.
    ///
    /// # Errors
    /// [`Error::TooLarge`], and those of allocation.
    pub fn from_ndarray<S: Data<Elem = T>>(device: &Device, array: &ArrayBase<S, Dim<[Ix; D]>>) -> Result<Self, Error> {
        let mut shape = [0; D];
        shape.copy_from_slice(array.shape());
        match array.as_slice() {
            Some(values) => Self::from_slice(device, values, shape),
            None => Self::from_vec(device, array.iter().copied().collect(), shape),
        }
    }

    /// Reads the values back as an array.
    ///
    /// # Errors
    /// As [`to_vec`](Self::to_vec).
    pub async fn to_ndarray(&self) -> Result<Array<T, Dim<[Ix; D]>>, Error> {
        array(self.to_vec().await?, self.shape())
    }

    /// Blocking form of [`to_ndarray`](Self::to_ndarray).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_ndarray_blocking(&self) -> Result<Array<T, Dim<[Ix; D]>>, Error> {
        array(self.to_vec_blocking()?, self.shape())
    }
}

fn array<T, const D: usize>(values: Vec<T>, shape: [usize; D]) -> Result<Array<T, Dim<[Ix; D]>>, Error>
where
    Dim<[Ix; D]>: Dimension,
{
    let shaped = Array::from_shape_vec(IxDyn(&shape), values).and_then(Array::into_dimensionality);
    shaped.map_err(|error| Error::Readback { message: error.to_string() })
}
