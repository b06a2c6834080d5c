//! Element types, and their bytes in buffers.

use std::{borrow::Cow, fmt::Debug};

use fuse_artifact::DType;
use half::f16;

mod sealed {
    pub trait Sealed {}
}

/// An element of a tensor: `f32`, [`struct@f16`], `i32`, `u32` or `bool`.
pub trait Element: sealed::Sealed + Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: DType;

    /// Encodes values for a buffer.
    #[doc(hidden)]
    fn encode(values: &[Self]) -> Cow<'_, [u8]>;

    /// Decodes values of a buffer.
    #[doc(hidden)]
    fn decode(bytes: &[u8]) -> Vec<Self>;

    /// Bits of a host scalar, as in `Uniform::Scalar`: an `f16` is widened to `f32`.
    #[doc(hidden)]
    fn scalar_bits(self) -> u32;
}

/// An element with arithmetic: all but `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number that kernels compute with",
    label = "expected elements of `f32`, `f16`, `i32` or `u32`"
)]
pub trait Number: Element {}

/// A number with a sign: `f32`, [`struct@f16`] or `i32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type with negative numbers",
    label = "expected elements of `f32`, `f16` or `i32`"
)]
pub trait Signed: Number {}

/// A number of 32 bits: `f32`, `i32` or `u32`. For expressions with integers beyond [`struct@f16`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold an integer of the expression",
    label = "expected elements of `f32`, `i32` or `u32`"
)]
#[doc(hidden)]
pub trait Wide: Number {}

/// A signed number of 32 bits: `f32` or `i32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold an integer of the expression",
    label = "expected elements of `f32` or `i32`"
)]
#[doc(hidden)]
pub trait SignedWide: Wide {}

/// `f32` or `u32`: for expressions with integers beyond `i32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not hold an integer of the expression",
    label = "expected elements of `f32` or `u32`"
)]
#[doc(hidden)]
pub trait UnsignedWide: Wide {}

/// An integer element: `i32` or `u32`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer element type",
    label = "expected elements of `i32` or `u32`",
    note = "operators of truth values are `&&`, `||` and `!=`"
)]
pub trait Integer: Number {}

/// A floating-point element: `f32` or [`struct@f16`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point element type",
    label = "expected elements of `f32` or `f16`"
)]
pub trait Float: Number {
    /// The element nearest to `value`.
    #[doc(hidden)]
    fn from_f32(value: f32) -> Self;
}

macro_rules! plain_elements {
    ($($type:ty => $dtype:ident, $bits:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const DTYPE: DType = DType::$dtype;

            fn encode(values: &[Self]) -> Cow<'_, [u8]> {
                Cow::Borrowed(bytemuck::cast_slice(values))
            }

            fn decode(bytes: &[u8]) -> Vec<Self> {
                bytemuck::pod_collect_to_vec(bytes)
            }

            fn scalar_bits(self) -> u32 {
                let bits: fn(Self) -> u32 = $bits;
                bits(self)
            }
        }

        impl Number for $type {}
    )*};
}

plain_elements! {
    f32 => F32, f32::to_bits;
    f16 => F16, |value| value.to_f32().to_bits();
    i32 => I32, |value| value as u32;
    u32 => U32, |value| value;
}

impl Signed for f32 {}

impl Signed for f16 {}

impl Signed for i32 {}

impl Integer for i32 {}

impl Integer for u32 {}

impl Wide for f32 {}

impl Wide for i32 {}

impl Wide for u32 {}

impl SignedWide for f32 {}

impl SignedWide for i32 {}

impl UnsignedWide for f32 {}

impl UnsignedWide for u32 {}

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn encode(values: &[Self]) -> Cow<'_, [u8]> {
        Cow::Owned(values.iter().flat_map(|&value| u32::from(value).to_ne_bytes()).collect())
    }

    fn decode(bytes: &[u8]) -> Vec<Self> {
        bytes.chunks_exact(4).map(|word| word != [0; 4]).collect()
    }

    fn scalar_bits(self) -> u32 {
        u32::from(self)
    }
}

impl Float for f32 {
    fn from_f32(value: f32) -> Self {
        value
    }
}

impl Float for f16 {
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

/// Encodes a uniform block's bits for a storage buffer.
pub(crate) fn scalar_bytes(dtype: DType, bits: u32) -> Vec<u8> {
    match dtype {
        DType::F16 => f16::from_f32(f32::from_bits(bits)).to_ne_bytes().to_vec(),
        DType::F32 | DType::I32 | DType::U32 | DType::Bool => bits.to_ne_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        assert_eq!(bool::decode(&bool::encode(&[true, false, true])), [true, false, true]);
        assert_eq!(f32::decode(&f32::encode(&[1.5, -0.0])), [1.5, -0.0]);
        let halves = [f16::ONE, f16::MIN_POSITIVE_SUBNORMAL, f16::INFINITY];
        assert_eq!(f16::decode(&f16::encode(&halves)), halves);
    }

    #[test]
    fn scalars_keep_their_value() {
        assert_eq!(f16::from_f32(0.1).scalar_bits(), f16::from_f32(0.1).to_f32().to_bits());
        assert_eq!(scalar_bytes(DType::F16, 1.0f32.to_bits()), f16::ONE.to_ne_bytes());
        assert_eq!((-1i32).scalar_bits(), u32::MAX);
    }
}
