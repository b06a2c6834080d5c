//! Typed tensors.

use std::{fmt, marker::PhantomData};

#[cfg(not(target_arch = "wasm32"))]
use crate::api::text;
use crate::{
    api::{
        device::Device,
        random,
        raw::{RawTensor, tensor_bytes},
    },
    context::{
        element::{Element, Float},
        error::Error,
        shape::{MAX_RANK, Shape},
        upload::Source,
    },
};

/// A contiguous tensor of `D` axes (0 to 6) with elements of type `T` on a device.
///
/// Clones are cheap values: they share memory until a launch or [`write`](Self::write) writes one, which moves first.
/// The memory that a [`Sequence`](crate::Sequence) writes cannot move, so a clone of it is a copy.
#[derive(Clone)]
pub struct Tensor<T: Element, const D: usize> {
    raw: RawTensor,
    element: PhantomData<T>,
}

/// A single number on a device.
pub type Tensor0<T> = Tensor<T, 0>;
/// A vector.
pub type Tensor1<T> = Tensor<T, 1>;
/// A matrix.
pub type Tensor2<T> = Tensor<T, 2>;
/// A tensor of three axes.
pub type Tensor3<T> = Tensor<T, 3>;
/// A tensor of four axes.
pub type Tensor4<T> = Tensor<T, 4>;
/// A tensor of five axes.
pub type Tensor5<T> = Tensor<T, 5>;
/// A tensor of six axes.
pub type Tensor6<T> = Tensor<T, 6>;

impl<T: Element, const D: usize> Tensor<T, D> {
    /// Uploads `values`, last axis fastest.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if they do not fill `shape`, [`Error::TooLarge`], and those of allocation.
    pub fn from_vec(device: &Device, values: Vec<T>, shape: [usize; D]) -> Result<Self, Error> {
        Self::from_slice(device, &values, shape)
    }

    /// Like [`from_vec`](Self::from_vec), from borrowed values.
    pub fn from_slice(device: &Device, values: &[T], shape: [usize; D]) -> Result<Self, Error> {
        let expected = Shape::new(&shape)?.elements();
        if expected != Some(values.len() as u64) {
            let expected = expected.unwrap_or(u64::MAX);
            return Err(Error::LengthMismatch { shape: shape.to_vec(), expected, found: values.len() as u64 });
        }
        RawTensor::from_bytes(device, T::DTYPE, &shape, &T::encode(values)).map(Self::from_raw)
    }

    /// A tensor of zeros (`false` for `bool`).
    ///
    /// # Errors
    /// [`Error::TooLarge`], and those of allocation.
    pub fn zeros(device: &Device, shape: [usize; D]) -> Result<Self, Error> {
        Self::full(device, T::default(), shape)
    }

    /// A tensor filled with `value`.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn full(device: &Device, value: T, shape: [usize; D]) -> Result<Self, Error> {
        let shape = Shape::new(&shape)?;
        let bytes = tensor_bytes(device, "tensor", T::DTYPE, &shape)?;
        let encoded = T::encode(&[value, value]).into_owned();
        let word = [encoded[0], encoded[1], encoded[2], encoded[3]];
        RawTensor::upload(device, T::DTYPE, shape, Source::Repeat(word, bytes)).map(Self::from_raw)
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> [usize; D] {
        let mut shape = [0; D];
        shape.copy_from_slice(self.raw.shape());
        shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.raw.elements()
    }

    /// True if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        self.raw.device()
    }

    /// The same elements with another shape, sharing the memory.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for another number of elements.
    pub fn reshape<const E: usize>(&self, shape: [usize; E]) -> Result<Tensor<T, E>, Error> {
        self.raw.reshape(&shape).map(Tensor::from_raw)
    }

    /// Copies the values at once, not on the first write as a clone does.
    ///
    /// # Errors
    /// Those of allocation, [`Error::NotReplayed`], [`Error::Capturing`] within [`Device::capture`].
    pub fn copy(&self) -> Result<Self, Error> {
        self.raw.copy().map(Self::from_raw)
    }

    /// Replaces the values, last axis fastest, but not those of clones and reshaped tensors.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if `values` do not fill the shape, [`Error::DeviceLost`], [`Error::Capturing`] within
    /// [`Device::capture`], and those of allocation if clones share the memory.
    pub fn write(&mut self, values: &[T]) -> Result<(), Error> {
        if values.len() != self.len() {
            let expected = self.len() as u64;
            let shape = self.raw.shape().to_vec();
            return Err(Error::LengthMismatch { shape, expected, found: values.len() as u64 });
        }
        self.raw.write(&T::encode(values))
    }

    /// Reads the values back, last axis fastest.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Readback`], [`Error::NotReplayed`], [`Error::Capturing`] within
    /// [`Device::capture`], and errors of earlier work that could not be reported before.
    pub async fn to_vec(&self) -> Result<Vec<T>, Error> {
        self.raw.read(T::decode).await
    }

    /// Blocking form of [`to_vec`](Self::to_vec). Not on the web, where it would hang the page.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_vec_blocking(&self) -> Result<Vec<T>, Error> {
        self.raw.read_blocking(T::decode)
    }

    /// Reads the element of a one-element tensor of any rank.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for other numbers of elements, and those of [`to_vec`](Self::to_vec).
    pub async fn item(&self) -> Result<T, Error> {
        self.one(self.to_vec().await?)
    }

    /// Blocking form of [`item`](Self::item).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn item_blocking(&self) -> Result<T, Error> {
        self.one(self.to_vec_blocking()?)
    }

    fn one(&self, values: Vec<T>) -> Result<T, Error> {
        match values[..] {
            [value] => Ok(value),
            _ => Err(Error::LengthMismatch { shape: vec![], expected: 1, found: values.len() as u64 }),
        }
    }

    /// Formats dtype, shape and values, of large tensors the ends of each axis. Reads all back.
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec).
    pub async fn text(&self) -> Result<String, Error> {
        self.raw.text().await
    }

    /// Blocking form of [`text`](Self::text). [`Display`](fmt::Display) writes the same.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn text_blocking(&self) -> Result<String, Error> {
        self.raw.text_blocking()
    }

    /// Moves it to memory of its own. Only generated code calls this.
    #[doc(hidden)]
    pub fn own(&mut self) -> Result<(), Error> {
        self.raw.own()
    }

    /// The untyped tensor.
    #[doc(hidden)]
    pub fn raw(&self) -> &RawTensor {
        &self.raw
    }

    /// Types an untyped tensor of this dtype and rank. Only generated code calls this.
    #[doc(hidden)]
    pub fn from_raw(raw: RawTensor) -> Self {
        const { assert!(D <= MAX_RANK, "tensors have at most 6 axes") };
        assert!(raw.dtype() == T::DTYPE && raw.shape().len() == D, "expected {}[rank {D}], found {raw:?}", T::DTYPE);
        Self { raw, element: PhantomData }
    }
}

impl<T: Float, const D: usize> Tensor<T, D> {
    /// Uniform random numbers in [0, 1), multiples of 2^-24, for `f16` of 2^-11; the same for a seed everywhere.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn rand(device: &Device, shape: [usize; D], seed: u64) -> Result<Self, Error> {
        Self::from_generator(device, shape, |index| random::uniform(T::DTYPE, seed, index))
    }

    /// Normal random numbers with mean 0 and variance 1; the same for a seed everywhere, up to rounding of logarithm
    /// and cosine.
    ///
    /// # Errors
    /// As [`zeros`](Self::zeros).
    pub fn randn(device: &Device, shape: [usize; D], seed: u64) -> Result<Self, Error> {
        Self::from_generator(device, shape, |index| random::normal(seed, index))
    }

    fn from_generator(device: &Device, shape: [usize; D], value: impl Fn(u64) -> f32) -> Result<Self, Error> {
        let dims = Shape::new(&shape)?;
        tensor_bytes(device, "tensor", T::DTYPE, &dims)?;
        let count = dims.elements().unwrap_or(0);
        Self::from_vec(device, (0..count).map(|index| T::from_f32(value(index))).collect(), shape)
    }
}

/// Writes [`Tensor::text_blocking`], or the error. On the web, waiting would hang the page: await [`Tensor::text`].
#[cfg(not(target_arch = "wasm32"))]
impl<T: Element, const D: usize> fmt::Display for Tensor<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(f, self.text_blocking())
    }
}

/// Writes dtype, shape and device without reading back.
impl<T: Element, const D: usize> fmt::Debug for Tensor<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}
