//! Tensors of a GGUF file: descriptions, and aligned, disjoint data ranges inside the file.

use std::collections::BTreeSet;

use super::{
    MIN_TENSOR,
    cursor::{Cursor, Place},
    error::{Error, short},
};
use crate::blocks::{self, BlockType};

/// Maximum rank: ggml's `GGML_MAX_DIMS`.
pub const MAX_RANK: usize = 4;

/// A tensor with name, shape, type and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'a> {
    name: &'a str,
    ty: BlockType,
    /// Outermost first; entries from `rank` on are unused.
    shape: [usize; MAX_RANK],
    rank: usize,
    len: usize,
    bytes: &'a [u8],
}

impl<'a> Tensor<'a> {
    /// Name, unique in the file.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Storage type of the elements.
    pub fn block_type(&self) -> BlockType {
        self.ty
    }

    /// Dimensions, outermost first; empty for a scalar.
    ///
    /// Elements of a row, the last dimension, are contiguous. Files (and ggml's `ne`) use the reverse order.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if a dimension is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Blocks of all rows, outermost dimension first, as in the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Decodes all elements into `out` of length [`Self::len`].
    ///
    /// # Errors
    /// As [`blocks::decode`].
    pub fn decode(&self, out: &mut [f32]) -> Result<(), blocks::Error> {
        blocks::decode(self.ty, self.bytes, out)
    }

    /// Decodes all elements.
    ///
    /// # Errors
    /// [`blocks::Error::NoDecoder`].
    pub fn to_f32(&self) -> Result<Vec<f32>, blocks::Error> {
        if !self.ty.is_decodable() {
            return Err(blocks::Error::NoDecoder { ty: self.ty });
        }
        // No more than the bytes contain.
        let mut out = vec![0.0; self.len];
        self.decode(&mut out)?;
        Ok(out)
    }
}

/// A tensor of a type unknown to this crate, such as of a later ggml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTensor<'a> {
    name: &'a str,
    ty: u32,
    shape: [usize; MAX_RANK],
    rank: usize,
}

impl<'a> UnknownTensor<'a> {
    /// Name, unique in the file.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Type number in ggml.
    pub fn type_number(&self) -> u32 {
        self.ty
    }

    /// Dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape[..self.rank]
    }
}

enum Found<'a> {
    Known(Description<'a>),
    Unknown(UnknownTensor<'a>),
}

pub(super) struct Description<'a> {
    tensor: Tensor<'a>,
    offset: u64,
    size: u64,
}

/// Tensors of known and unknown types, with unique names.
pub(super) fn descriptions<'a>(
    cursor: &mut Cursor<'a>,
    count: u64,
) -> Result<(Vec<Description<'a>>, Vec<UnknownTensor<'a>>), Error> {
    cursor.check_count(Place::Tensors, count, MIN_TENSOR)?;
    let mut names = BTreeSet::new();
    let (mut descriptions, mut unknown) = (vec![], vec![]);
    for index in 0..count {
        let name = cursor.string(Place::TensorName(index))?;
        if !names.insert(name) {
            return Err(Error::DuplicateTensor { tensor: short(name) });
        }
        match description(cursor, name)? {
            Found::Known(description) => descriptions.push(description),
            Found::Unknown(tensor) => unknown.push(tensor),
        }
    }
    Ok((descriptions, unknown))
}

fn description<'a>(cursor: &mut Cursor<'a>, name: &'a str) -> Result<Found<'a>, Error> {
    let place = Place::Tensor(name);
    let found = cursor.u32(place)?;
    let rank = usize::try_from(found).ok().filter(|&rank| rank <= MAX_RANK);
    let rank = rank.ok_or_else(|| Error::Rank { tensor: short(name), most: MAX_RANK, found })?;
    let mut dimensions = [1u64; MAX_RANK];
    for dimension in &mut dimensions[..rank] {
        *dimension = cursor.u64(place)?;
    }
    let ty = cursor.u32(place)?;
    let offset = cursor.u64(place)?;
    let overflow = || Error::Shape { tensor: short(name), found: dimensions[..rank].to_vec() };
    // Dimensions of 0 count as 1, so that strides of empty tensors cannot overflow.
    let most = dimensions.iter().try_fold(1u64, |product, &size| product.checked_mul(size.max(1)));
    let most = most.filter(|&most| i64::try_from(most).is_ok()).ok_or_else(overflow)?;
    let mut shape = [1; MAX_RANK];
    for (size, &dimension) in shape[..rank].iter_mut().rev().zip(&dimensions) {
        *size = usize::try_from(dimension).map_err(|_| overflow())?;
    }
    let Some(ty) = BlockType::from_id(ty) else {
        return Ok(Found::Unknown(UnknownTensor { name, ty, shape, rank }));
    };
    let (block_len, block_bytes) = (ty.block_len() as u64, ty.block_bytes() as u64);
    if !dimensions[0].is_multiple_of(block_len) {
        let found = dimensions[0];
        return Err(Error::Row { tensor: short(name), ty, block_len: ty.block_len(), found });
    }
    let elements = if dimensions.contains(&0) { 0 } else { most };
    let size = (elements / block_len).checked_mul(block_bytes).ok_or_else(overflow)?;
    let len = usize::try_from(elements).map_err(|_| overflow())?;
    Ok(Found::Known(Description { tensor: Tensor { name, ty, shape, rank, len, bytes: &[] }, offset, size }))
}

pub(super) fn place<'a>(
    descriptions: Vec<Description<'a>>,
    data: &'a [u8],
    alignment: usize,
) -> Result<Vec<Tensor<'a>>, Error> {
    let mut ranges = vec![];
    let mut tensors = Vec::with_capacity(descriptions.len());
    for Description { mut tensor, offset, size } in descriptions {
        if !offset.is_multiple_of(alignment as u64) {
            return Err(Error::Unaligned { tensor: short(tensor.name), alignment, found: offset });
        }
        if size > 0 {
            let start = usize::try_from(offset).ok();
            let end = offset.checked_add(size).and_then(|end| usize::try_from(end).ok());
            let range = start.zip(end).and_then(|(start, end)| Some((start, end, data.get(start..end)?)));
            let (start, end, bytes) = range.ok_or_else(|| Error::OutOfBounds {
                tensor: short(tensor.name),
                offset,
                expected: size,
                found: data.len(),
            })?;
            tensor.bytes = bytes;
            ranges.push((start, end, tensors.len()));
        }
        tensors.push(tensor);
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if let [(_, end, first), (start, _, later)] = *pair
            && start < end
        {
            return Err(Error::Overlap {
                tensor: short(tensors[later].name),
                other: short(tensors[first].name),
                expected: end,
                found: start,
            });
        }
    }
    Ok(tensors)
}
