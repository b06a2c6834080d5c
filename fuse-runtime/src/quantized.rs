//! Quantized tensors: packed values and the scales of their groups, as `fuse!` functions with operands such as
//! `w: q4[K, N]` take them.
//!
//! Not here: how values are chosen and packed (`fuse-quantize`), and how kernels read them (`fuse-compiler`).

use std::{fmt, marker::PhantomData};

use fuse_artifact::{DType, Packing};

use crate::{
    Device, Error,
    launch::Arg,
    raw::RawTensor,
    shape::{MAX_RANK, Shape},
};

mod sealed {
    pub trait Sealed {}
}

/// Bits per value of a [`QTensor`]: [`Q8`], [`Q4`], [`Q3`], [`Q2`] or [`Q1`].
pub trait Bits: sealed::Sealed + Copy + fmt::Debug + Send + Sync + 'static {
    /// How values lie in words.
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

/// The number type of a quantized tensor's scales and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleDType {
    /// `f16`: a scale and its offset take one word.
    F16,
    /// `f32`: a word each.
    F32,
}

/// A quantized tensor of `D` axes (1 to 4) in the memory of a device: values of few bits, of which neighbours along one
/// axis share a scale and an offset. A value `q` means `q·scale + offset` ([`Packing`] says how it is stored).
///
/// It is an argument of functions with a parameter such as `w: q4[K, N]`, which is `&QTensor<Q4, 2>` in Rust. Cloning is cheap
/// and shares the memory.
#[derive(Clone)]
pub struct QTensor<Q: Bits, const D: usize> {
    raw: RawQuantized,
    bits: PhantomData<Q>,
}

/// The parts that a [`QTensor`] is made from.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedParts<'a> {
    /// The packed axis.
    pub axis: usize,
    /// Groups along that axis, all of the same length: 1, or as many as have a multiple of
    /// [`Packing::GROUP_MULTIPLE`] values each.
    pub groups: usize,
    /// The number type of scales and offsets.
    pub scales_dtype: ScaleDType,
    /// The packed values: a tensor of the shape in which the packed axis has [`Packing::words`] words, last axis fastest.
    pub words: &'a [u32],
    /// A scale and an offset for each group: a tensor of the shape in which the packed axis has `groups` elements. Of `f16`,
    /// an element is a word, the scale in its lower half; of `f32`, two words, the scale first.
    pub scales: &'a [u32],
}

/// The tensor beneath: packing and rank are values, not types.
#[derive(Clone)]
pub struct RawQuantized {
    packing: Packing,
    axis: u8,
    words: RawTensor,
    scales: RawTensor,
    /// The dimensions, the number of groups, and the words of a scale with its offset.
    described: Shape,
}

impl<Q: Bits, const D: usize> QTensor<Q, D> {
    /// A tensor from packed values and scales that exist already.
    ///
    /// # Errors
    /// [`Error::Quantized`] if the parts do not fit each other or a scale is not finite, [`Error::TooLarge`], and those of
    /// allocation.
    pub fn from_parts(device: &Device, shape: [usize; D], parts: &QuantizedParts<'_>) -> Result<Self, Error> {
        Ok(Self { raw: RawQuantized::new(device, Q::PACKING, &shape, parts)?, bits: PhantomData })
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> [usize; D] {
        let mut shape = [0; D];
        shape.copy_from_slice(self.raw.shape());
        shape
    }

    /// The packed axis.
    pub fn axis(&self) -> usize {
        self.raw.axis.into()
    }

    /// Values that share a scale.
    pub fn group(&self) -> usize {
        self.raw.shape()[self.axis()] / self.raw.groups()
    }

    /// The number type of scales and offsets.
    pub fn scales_dtype(&self) -> ScaleDType {
        if self.raw.scale_words() == 1 { ScaleDType::F16 } else { ScaleDType::F32 }
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        self.raw.words.device()
    }

    /// Bytes of the packed values.
    pub fn value_bytes(&self) -> u64 {
        self.raw.words.bytes()
    }

    /// Bytes of scales and offsets.
    pub fn scale_bytes(&self) -> u64 {
        self.raw.scales.bytes()
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
    /// As [`QTensor::from_parts`].
    pub fn new(device: &Device, packing: Packing, shape: &[usize], parts: &QuantizedParts<'_>) -> Result<Self, Error> {
        let what = || format!("{}{shape:?}", packing.name());
        let refused = |message: String| Err(Error::Quantized { tensor: what(), message });
        let QuantizedParts { axis, groups, scales_dtype, words, scales } = *parts;
        if !(1..=MAX_RANK - 2).contains(&shape.len()) {
            return refused(format!("expected 1 to {} axes, found {}", MAX_RANK - 2, shape.len()));
        }
        let Some(&extent) = shape.get(axis) else {
            return refused(format!("expected a packed axis below {}, found {axis}", shape.len()));
        };
        let whole = groups == 1;
        if groups == 0 || extent % groups != 0 || !(whole || (extent / groups).is_multiple_of(Packing::GROUP_MULTIPLE)) {
            let multiple = Packing::GROUP_MULTIPLE;
            return refused(format!(
                "expected 1 group along axis {axis} of {extent} values, or groups of a multiple of {multiple}, found {groups}"
            ));
        }
        let scale_words = if scales_dtype == ScaleDType::F16 { 1 } else { 2 };
        let along = |extent: usize| {
            let mut dims = shape.to_vec();
            dims[axis] = extent;
            dims
        };
        let words_shape = along(packing.words(extent));
        let mut scales_shape = along(groups);
        scales_shape.push(scale_words);
        for (name, shape, found) in [("words", &words_shape, words.len()), ("words of scales", &scales_shape, scales.len())] {
            if Shape::new(shape)?.elements() != Some(found as u64) {
                return refused(format!("expected {name} for shape {shape:?}, found {found}"));
            }
        }
        if let Some(at) = scales.iter().position(|&word| !is_finite(word, scales_dtype)) {
            return refused(format!("the scale or offset in word {at} is not finite"));
        }
        let upload = |shape: &[usize], words: &[u32]| {
            RawTensor::from_bytes(device, DType::U32, shape, bytemuck::cast_slice(words))
        };
        Ok(Self {
            packing,
            axis: axis as u8,
            words: upload(&words_shape, words)?,
            scales: upload(&scales_shape, scales)?,
            described: Shape::new(&[shape, &[groups, scale_words]].concat())?,
        })
    }

    /// The dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.described[..self.described.len() - 2]
    }

    /// How values lie in words.
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// The packed axis.
    pub fn axis(&self) -> u8 {
        self.axis
    }

    /// The packed values.
    pub fn words(&self) -> &RawTensor {
        &self.words
    }

    /// The scales and offsets.
    pub fn scales(&self) -> &RawTensor {
        &self.scales
    }

    /// Groups along the packed axis.
    pub fn groups(&self) -> usize {
        self.described[self.described.len() - 2]
    }

    /// Words of a scale with its offset.
    pub fn scale_words(&self) -> usize {
        self.described[self.described.len() - 1]
    }

    /// What a launch knows of it besides its memory.
    pub(crate) fn described(&self) -> &Shape {
        &self.described
    }
}

impl fmt::Debug for RawQuantized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QTensor {}{:?}", self.packing.name(), self.shape())
    }
}

fn is_finite(word: u32, dtype: ScaleDType) -> bool {
    match dtype {
        ScaleDType::F32 => f32::from_bits(word).is_finite(),
        ScaleDType::F16 => [word, word >> 16].into_iter().all(|bits| half::f16::from_bits(bits as u16).is_finite()),
    }
}
