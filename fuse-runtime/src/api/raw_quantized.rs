//! [`RawQuantized`]: the tensor below [`QTensor`](crate::QTensor), with packing and rank as values.

use std::fmt;

use fuse_artifact::{DType, Packing};
use fuse_quantize::{Quantized, ScaleDType};

use crate::{
    api::{device::Device, raw::RawTensor},
    context::{
        error::Error,
        shape::{MAX_RANK, Shape},
    },
};

/// A quantized tensor whose packing and rank are known at run time.
#[derive(Clone)]
pub struct RawQuantized {
    packing: Packing,
    axis: u8,
    words: RawTensor,
    scales: RawTensor,
    /// Dimensions, number of groups, words of a scale with its offset.
    described: Shape,
}

impl RawQuantized {
    /// Like [`QTensor::upload`](crate::QTensor::upload), of any bits and rank.
    pub fn upload(device: &Device, quantized: &Quantized) -> Result<Self, Error> {
        let Quantized { packing, ref shape, axis, groups, scale_dtype, .. } = *quantized;
        check_rank(packing, shape)?;
        quantized.check().map_err(|reason| refused(packing, shape, &reason))?;
        let upload = |shape: &[usize], words: &[u32]| {
            RawTensor::from_bytes(device, DType::U32, shape, bytemuck::cast_slice(words))
        };
        let [of_words, of_scales] = part_shapes(packing, shape, axis, groups, scale_dtype);
        let (words, scales) = (upload(&of_words, &quantized.words)?, upload(&of_scales, &quantized.scales)?);
        Self::from_parts(packing, shape, axis, words, scales)
    }

    /// The parts have the shapes of [`part_shapes`].
    pub(crate) fn from_parts(
        packing: Packing,
        shape: &[usize],
        axis: usize,
        words: RawTensor,
        scales: RawTensor,
    ) -> Result<Self, Error> {
        let described = Shape::new(&[shape, &[scales.shape()[axis], scales.shape()[shape.len()]]].concat())?;
        Ok(Self { packing, axis: axis as u8, words, scales, described })
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn to_host_blocking(&self) -> Result<Quantized, Error> {
        self.host(&self.words.to_bytes_blocking()?, &self.scales.to_bytes_blocking()?)
    }

    pub(crate) fn host(&self, words: &[u8], scales: &[u8]) -> Result<Quantized, Error> {
        let (shape, axis, groups) = (self.shape(), usize::from(self.axis), self.groups());
        let (words, scales) = (bytemuck::pod_collect_to_vec(words), bytemuck::pod_collect_to_vec(scales));
        Quantized::from_parts(self.packing, shape, axis, groups, self.scales_dtype(), words, scales)
            .map_err(|reason| refused(self.packing, shape, &reason))
    }

    /// The dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.described[..self.described.len() - 2]
    }

    /// Layout of values in words.
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

    /// The number type of scales and offsets.
    pub fn scales_dtype(&self) -> ScaleDType {
        if self.scale_words() == 1 { ScaleDType::F16 } else { ScaleDType::F32 }
    }

    pub(crate) fn described(&self) -> &Shape {
        &self.described
    }
}

impl fmt::Debug for RawQuantized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QTensor {}{:?}", self.packing.name(), self.shape())
    }
}

/// Shapes of words and of scales.
pub(crate) fn part_shapes(
    packing: Packing,
    shape: &[usize],
    axis: usize,
    groups: usize,
    scales: ScaleDType,
) -> [Vec<usize>; 2] {
    let along = |extent: usize| {
        let mut dims = shape.to_owned();
        dims[axis] = extent;
        dims
    };
    [along(packing.words(shape[axis])), [along(groups), vec![scales.pair_words()]].concat()]
}

/// Limits the rank: a launch cannot describe more axes.
pub(crate) fn check_rank(packing: Packing, shape: &[usize]) -> Result<(), Error> {
    let most = MAX_RANK - 2;
    match shape.len() {
        rank if (1..=most).contains(&rank) => Ok(()),
        rank => Err(refused(packing, shape, &format!("expected 1 to {most} axes, found {rank}"))),
    }
}

pub(crate) fn refused(packing: Packing, shape: &[usize], reason: &impl fmt::Display) -> Error {
    Error::Quantized { tensor: format!("{}{shape:?}", packing.name()), message: reason.to_string() }
}
