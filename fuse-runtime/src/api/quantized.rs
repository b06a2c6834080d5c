//! Quantized tensors: packed values and the scales of their groups, for operands such as `w: q4[K, N]`.
//!
//! Not here: choice and packing of values (`fuse-quantize`, `quantizer`), and kernels (`fuse-compiler`).

use std::{fmt, marker::PhantomData};

#[cfg(not(target_arch = "wasm32"))]
use fuse_artifact::DType;
use fuse_artifact::Packing;
use fuse_quantize::{QuantScheme, Quantized, ScaleDType};

#[cfg(not(target_arch = "wasm32"))]
use crate::{api::raw::RawTensor, context::element::Element};
use crate::{
    api::{
        arg::Arg,
        device::Device,
        quantizer::{self, Recorded},
        raw_quantized::{RawQuantized, refused},
        tensor::Tensor,
    },
    context::{element::Float, error::Error},
};

mod sealed {
    pub trait Sealed {}
}

/// Bits per value of a [`QTensor`]: [`Q8`], [`Q4`], [`Q3`], [`Q2`] or [`Q1`].
pub trait Bits: sealed::Sealed + Copy + fmt::Debug + Send + Sync + 'static {
    /// Layout of values in words.
    const PACKING: Packing;
}

macro_rules! bits {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl sealed::Sealed for $name {}

        impl Bits for $name {
            const PACKING: Packing = Packing::$name;
        }
    )*};
}

bits! {
    /// 8 bits: `q8` in `fuse!`.
    Q8,
    /// 4 bits: `q4` in `fuse!`.
    Q4,
    /// 3 bits: `q3` in `fuse!`.
    Q3,
    /// 2 bits: `q2` in `fuse!`.
    Q2,
    /// 1 bit: `q1` in `fuse!`.
    Q1,
}

/// A quantized tensor of `D` axes (1 to 4), with a scale and an offset per group of neighbours.
///
/// A value `q` means `q·scale + offset`; [`Packing`] describes the layout. The argument of `w: q4[K, N]` is
/// `&QTensor<Q4, 2>`. Clones share the memory.
#[derive(Clone)]
pub struct QTensor<Q: Bits, const D: usize> {
    raw: RawQuantized,
    bits: PhantomData<Q>,
}

impl<Q: Bits, const D: usize> QTensor<Q, D> {
    /// Quantizes `values` (last axis fastest) on the host.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Q4, QTensor, QuantScheme};
    /// # fn main() -> Result<(), Error> {
    /// # let (device, weights) = (Device::blocking()?, vec![0.5; 512 * 256]);
    /// // An operand `w: q4[K, N]` of `matmul(x, w)`, which is packed along K.
    /// let w = QTensor::<Q4, 2>::quantize(&device, &weights, [512, 256], &QuantScheme::asymmetric().per_group(64))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Quantized`] if the values do not fill the shape, a value is not finite, or the scheme does not fit;
    /// [`Error::TooLarge`], and those of allocation.
    pub fn quantize(device: &Device, values: &[f32], shape: [usize; D], scheme: &QuantScheme) -> Result<Self, Error> {
        let quantized = fuse_quantize::quantize(Q::PACKING, values, &shape, scheme);
        Self::upload(device, &quantized.map_err(|reason| refused(Q::PACKING, &shape, &reason))?)
    }

    /// Quantizes a tensor on its device, bit-identical to [`quantize`](Self::quantize); `f16` values count as `f32`.
    ///
    /// Only one word is read back, a flag for values that cannot be quantized. Scales are those of
    /// [`Rounding::Nearest`](crate::quantize::Rounding::Nearest).
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Q4, QTensor, QuantScheme, Tensor2};
    /// # async fn example() -> Result<(), Error> {
    /// # let device = Device::new().await?;
    /// let weights = Tensor2::<f32>::randn(&device, [512, 256], 1)?;
    /// // An operand `w: q4[K, N]` of `matmul(x, w)`, which is packed along K.
    /// let w = QTensor::<Q4, 2>::quantize_tensor(&weights, &QuantScheme::asymmetric().per_group(64)).await?;
    /// assert_eq!(w.shape(), [512, 256]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Quantized`] if the scheme does not fit or asks for another rounding, if a value is not finite, or if a
    /// scale does not fit its type. All values are then read back for the message.
    ///
    /// [`Error::Capturing`] within [`Device::capture`], [`Error::NotReplayed`], [`Error::TooLarge`],
    /// [`Error::DeviceLost`], and those of allocation.
    pub async fn quantize_tensor<T: Float>(tensor: &Tensor<T, D>, scheme: &QuantScheme) -> Result<Self, Error> {
        let Recorded { quantized, refused } = quantizer::record(Q::PACKING, tensor.raw(), scheme)?;
        match refused.to_bytes().await?.as_slice() {
            [0, 0, 0, 0] => Ok(Self { raw: quantized, bits: PhantomData }),
            _ => Self::quantize_values(tensor, &tensor.to_vec().await?, scheme),
        }
    }

    /// Blocking form of [`quantize_tensor`](Self::quantize_tensor).
    ///
    /// # Errors
    /// As [`quantize_tensor`](Self::quantize_tensor).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn quantize_tensor_blocking<T: Float>(tensor: &Tensor<T, D>, scheme: &QuantScheme) -> Result<Self, Error> {
        let Recorded { quantized, refused } = quantizer::record(Q::PACKING, tensor.raw(), scheme)?;
        match refused.to_bytes_blocking()?.as_slice() {
            [0, 0, 0, 0] => Ok(Self { raw: quantized, bits: PhantomData }),
            _ => Self::quantize_values(tensor, &tensor.to_vec_blocking()?, scheme),
        }
    }

    /// Quantizes on the host, for the error message.
    fn quantize_values<T: Float>(tensor: &Tensor<T, D>, values: &[T], scheme: &QuantScheme) -> Result<Self, Error> {
        // Host numbers have the bits of an `f32`, also `f16`.
        let values: Vec<f32> = values.iter().map(|value| f32::from_bits(value.scalar_bits())).collect();
        Self::quantize(tensor.device(), &values, tensor.shape(), scheme)
    }

    /// Uploads a packed tensor, of [`quantize`](crate::quantize::quantize) or another toolchain.
    ///
    /// # Errors
    /// [`Error::Quantized`] if its bits, rank or parts do not match; [`Error::TooLarge`], and those of allocation.
    pub fn upload(device: &Device, quantized: &Quantized) -> Result<Self, Error> {
        let (found, rank) = (quantized.packing, quantized.shape.len());
        if found != Q::PACKING || rank != D {
            let message = format!("expected {} of {D} axes, found {} of {rank}", Q::PACKING.name(), found.name());
            return Err(refused(found, &quantized.shape, &message));
        }
        Ok(Self { raw: RawQuantized::upload(device, quantized)?, bits: PhantomData })
    }

    /// Reads the packed tensor back.
    ///
    /// # Errors
    /// Those of reading tensors back.
    pub async fn to_host(&self) -> Result<Quantized, Error> {
        let (words, scales) = (self.raw.words().to_bytes().await?, self.raw.scales().to_bytes().await?);
        self.raw.host(&words, &scales)
    }

    /// Blocking form of [`to_host`](Self::to_host).
    ///
    /// # Errors
    /// As [`to_host`](Self::to_host).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_host_blocking(&self) -> Result<Quantized, Error> {
        self.raw.to_host_blocking()
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> [usize; D] {
        let mut shape = [0; D];
        shape.copy_from_slice(self.raw.shape());
        shape
    }

    /// The packed axis.
    pub fn axis(&self) -> usize {
        self.raw.axis().into()
    }

    /// Number of values that share a scale.
    pub fn group(&self) -> usize {
        self.raw.shape()[self.axis()] / self.raw.groups()
    }

    /// Number type of scales and offsets.
    pub fn scales_dtype(&self) -> ScaleDType {
        self.raw.scales_dtype()
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        self.raw.words().device()
    }

    /// Bytes of the packed values.
    pub fn value_bytes(&self) -> u64 {
        self.raw.words().bytes()
    }

    /// Bytes of scales and offsets.
    pub fn scale_bytes(&self) -> u64 {
        self.raw.scales().bytes()
    }

    /// The untyped tensor.
    #[doc(hidden)]
    pub fn raw(&self) -> &RawQuantized {
        &self.raw
    }
}

impl<Q: Bits, const D: usize> fmt::Debug for QTensor<Q, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.device().info().name.as_str();
        write!(f, "QTensor {}{:?} on {name:?}", Q::PACKING.name(), self.raw.shape())
    }
}

impl<'a, Q: Bits, const D: usize> From<&'a QTensor<Q, D>> for Arg<'a> {
    fn from(tensor: &'a QTensor<Q, D>) -> Self {
        Self::Quantized(&tensor.raw)
    }
}

impl RawQuantized {
    /// Untyped form of [`QTensor::quantize_tensor_blocking`].
    ///
    /// # Errors
    /// Those of [`QTensor::quantize_tensor_blocking`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn quantize_blocking(packing: Packing, tensor: &RawTensor, scheme: &QuantScheme) -> Result<Self, Error> {
        let Recorded { quantized, refused: flag } = quantizer::record(packing, tensor, scheme)?;
        if let [0, 0, 0, 0] = flag.to_bytes_blocking()?.as_slice() {
            return Ok(quantized);
        }

        let bytes = tensor.to_bytes_blocking()?;
        let values: Vec<f32> = match tensor.dtype() {
            DType::F16 => half::f16::decode(&bytes).into_iter().map(f32::from).collect(),
            _ => f32::decode(&bytes),
        };
        let host = fuse_quantize::quantize(packing, &values, tensor.shape(), scheme);
        Self::upload(tensor.device(), &host.map_err(|reason| refused(packing, tensor.shape(), &reason))?)
    }
}
