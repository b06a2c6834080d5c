//! Arguments of launches.

use fuse_artifact::{DType, Packing};

use crate::{
    api::{raw::RawTensor, raw_quantized::RawQuantized, tensor::Tensor},
    context::{element::Element, shape::Shape},
};

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A tensor.
    Tensor(&'a RawTensor),
    /// A quantized tensor.
    Quantized(&'a RawQuantized),
    /// A host number.
    Scalar {
        /// Its type.
        dtype: DType,
        /// Its bits, as in `Uniform::Scalar`: an `f16` is widened to `f32`.
        bits: u32,
    },
}

impl<'a> From<&'a RawTensor> for Arg<'a> {
    fn from(tensor: &'a RawTensor) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a, T: Element, const D: usize> From<&'a Tensor<T, D>> for Arg<'a> {
    fn from(tensor: &'a Tensor<T, D>) -> Self {
        Self::Tensor(tensor.raw())
    }
}

impl<T: Element> From<T> for Arg<'_> {
    fn from(value: T) -> Self {
        Self::Scalar { dtype: T::DTYPE, bits: value.scalar_bits() }
    }
}

impl<'a> Arg<'a> {
    /// The tensor, or the packed values of a quantized one.
    pub(crate) fn tensor(&self) -> Option<&'a RawTensor> {
        match self {
            Self::Tensor(tensor) => Some(tensor),
            Self::Quantized(tensor) => Some(tensor.words()),
            Self::Scalar { .. } => None,
        }
    }

    pub(crate) fn scales(&self) -> Option<&'a RawTensor> {
        if let Self::Quantized(tensor) = self { Some(tensor.scales()) } else { None }
    }

    /// The bits of a number; 0 for a tensor.
    pub(crate) fn scalar_bits(&self) -> u32 {
        match *self {
            Self::Scalar { bits, .. } => bits,
            Self::Tensor(_) | Self::Quantized(_) => 0,
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        match self {
            Self::Tensor(tensor) => *tensor.dims(),
            Self::Quantized(tensor) => *tensor.described(),
            Self::Scalar { .. } => Shape::SCALAR,
        }
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Tensor(tensor) => format!("a tensor of {}", tensor.dtype()),
            Self::Quantized(tensor) => quantized_text(tensor.packing(), tensor.axis()),
            Self::Scalar { dtype, .. } => format!("a scalar of {dtype}"),
        }
    }
}

pub(crate) fn quantized_text(packing: Packing, axis: u8) -> String {
    format!("a quantized tensor of {}, packed along axis {axis}", packing.name())
}
