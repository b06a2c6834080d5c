//! Tensors from numbers; numbers and strings from tensors.

use fuse_runtime::{__private::RawTensor, Device, Element};

#[cfg(not(target_arch = "wasm32"))]
use std::fmt;

use crate::{
    api::{dim::Dim, lazy::LazyTensor},
    error::Error,
};

impl LazyTensor {
    /// A tensor filled with `value`, without memory of its own: `LazyTensor::full(&device, 0.5f32, [2, 3])`.
    ///
    /// # Errors
    /// Those of allocating one number; [`Error::Operation`] for too many axes.
    pub fn full<T: Element, D: Into<Dim>>(
        device: &Device,
        value: T,
        shape: impl IntoIterator<Item = D>,
    ) -> Result<Self, Error> {
        // Buffers consist of whole words.
        let pair = [value, value];
        let bytes = T::encode(&pair);
        let bytes = &bytes[..T::DTYPE.bytes() as usize];
        let number = Self::of_number(RawTensor::from_bytes(device, T::DTYPE, &[], bytes)?);
        let shape: Vec<Dim> = shape.into_iter().map(Into::into).collect();
        if shape.is_empty() { Ok(number) } else { number.broadcast_to(shape) }
    }

    /// A tensor of zeros (`false` for `bool`), without memory of its own:
    /// `LazyTensor::zeros::<f32, _>(&device, [2, 3])`.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn zeros<T: Element, D: Into<Dim>>(device: &Device, shape: impl IntoIterator<Item = D>) -> Result<Self, Error> {
        Self::full(device, T::default(), shape)
    }

    /// Integers from 0 to `count - 1` as `i32`.
    ///
    /// # Errors
    /// As [`full`](Self::full).
    pub fn arange(device: &Device, count: impl Into<Dim>) -> Result<Self, Error> {
        Self::full(device, 0i32, [count])?.index(0)
    }

    /// Reads back the only element of a tensor of any rank.
    ///
    /// # Errors
    /// [`Error::Operation`] unless it has exactly one element of this dtype; those of [`to_vec`](Self::to_vec).
    pub async fn item<T: Element>(&self) -> Result<T, Error> {
        self.require_one()?;
        Ok(self.flat::<T>()?.item().await?)
    }

    /// As [`item`](Self::item), blocking.
    ///
    /// # Errors
    /// As [`item`](Self::item).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn item_blocking<T: Element>(&self) -> Result<T, Error> {
        self.require_one()?;
        Ok(self.flat::<T>()?.item_blocking()?)
    }

    fn require_one(&self) -> Result<(), Error> {
        let node = self.node()?;
        if node.elements() == 1 {
            return Ok(());
        }
        let message = format!("takes a tensor of one element, found `{}`", node.type_text());
        Err(Error::operation("item", message, "reduce it to one number, or read all values with `to_vec`"))
    }

    /// Dtype, shape and values as a string; elides the middle of large axes. Evaluates and reads everything back.
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec).
    pub async fn text(&self) -> Result<String, Error> {
        Ok(self.raw()?.text().await?)
    }

    /// As [`text`](Self::text), blocking.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn text_blocking(&self) -> Result<String, Error> {
        Ok(self.raw()?.text_blocking()?)
    }
}

/// Writes [`LazyTensor::text_blocking`], or the error.
#[cfg(not(target_arch = "wasm32"))]
impl fmt::Display for LazyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text_blocking() {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "<{error}>"),
        }
    }
}
