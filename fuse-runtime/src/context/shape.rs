//! Shapes of up to six axes, without allocation.

use std::{fmt, ops::Deref};

use fuse_artifact::DType;

use crate::context::error::Error;

/// The largest rank of a tensor.
pub const MAX_RANK: usize = 6;

/// Dimensions of a tensor, outermost first. Invariant: dimensions past the rank are 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: u8,
    dims: [usize; MAX_RANK],
}

impl Shape {
    pub(crate) const SCALAR: Self = Self { rank: 0, dims: [0; MAX_RANK] };

    /// Makes a shape.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more than [`MAX_RANK`] dimensions.
    pub fn new(dims: &[usize]) -> Result<Self, Error> {
        if dims.len() > MAX_RANK {
            return Err(Error::TooLarge {
                what: format!("shape {dims:?}"),
                limit: "axes of a tensor",
                needed: dims.len() as u64,
                allowed: MAX_RANK as u64,
            });
        }
        let mut shape = Self { rank: dims.len() as u8, dims: [0; MAX_RANK] };
        shape.dims[..dims.len()].copy_from_slice(dims);
        Ok(shape)
    }

    /// Number of elements, if it fits 64 bits.
    pub fn elements(&self) -> Option<u64> {
        // One zero makes the product zero, however large other dimensions are.
        if self.contains(&0) {
            return Some(0);
        }
        self.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim as u64))
    }

    /// The extent of an axis; missing outer ones have 1.
    pub(crate) fn padded(&self, axis: usize, rank: usize) -> usize {
        let missing = rank.saturating_sub(self.len());
        if axis < missing { 1 } else { self[axis - missing] }
    }

    /// Adds or drops outer axes of extent 1; `None` if a dropped one is longer.
    pub(crate) fn with_rank(&self, rank: usize) -> Option<Self> {
        let mut dims = [1; MAX_RANK];
        let (from, to) = (self.len(), rank);
        if to > MAX_RANK || self[..from.saturating_sub(to)].iter().any(|&dim| dim != 1) {
            return None;
        }
        let kept = from.min(to);
        dims[to - kept..to].copy_from_slice(&self[from - kept..]);
        Self::new(&dims[..to]).ok()
    }
}

impl<const D: usize> From<[usize; D]> for Shape {
    fn from(dims: [usize; D]) -> Self {
        const { assert!(D <= MAX_RANK, "shapes have at most 6 axes") };
        let mut shape = Self { rank: D as u8, dims: [0; MAX_RANK] };
        shape.dims[..D].copy_from_slice(&dims);
        shape
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.dims[..usize::from(self.rank)]
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

/// Bytes of `elements` elements.
///
/// # Errors
/// [`Error::TooLarge`] if indices do not fit 32 bits or the bytes exceed `allowed`.
pub(crate) fn checked_bytes(what: &str, dtype: DType, elements: Option<u64>, allowed: u64) -> Result<u64, Error> {
    let too_large = |limit, needed, allowed| Error::TooLarge { what: what.to_owned(), limit, needed, allowed };
    let elements = elements.unwrap_or(u64::MAX);
    if elements > u64::from(u32::MAX) {
        return Err(too_large("elements of a tensor", elements, u32::MAX.into()));
    }
    let bytes = elements * dtype.bytes();
    if bytes > allowed {
        return Err(too_large("bytes of a tensor on this adapter", bytes, allowed));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_empty_and_huge_shapes() {
        assert_eq!(Shape::SCALAR.elements(), Some(1));
        assert_eq!(Shape::new(&[usize::MAX, 0, usize::MAX]).unwrap().elements(), Some(0));
        assert_eq!(Shape::new(&[usize::MAX, 2]).unwrap().elements(), None);
        assert!(matches!(Shape::new(&[1; 7]), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn rank_changes_only_through_outer_ones() {
        let shape = Shape::new(&[1, 1, 3, 4]).unwrap();
        assert_eq!(&*shape.with_rank(2).unwrap(), &[3, 4]);
        assert_eq!(&*shape.with_rank(6).unwrap(), &[1, 1, 1, 1, 3, 4]);
        assert_eq!(shape.with_rank(1), None);
        assert_eq!(Shape::new(&[1]).unwrap().with_rank(0), Some(Shape::SCALAR));
        assert_eq!((shape.padded(0, 6), shape.padded(5, 6)), (1, 4));
    }
}
