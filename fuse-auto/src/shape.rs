//! Extents that are known: those of recorded values.

use std::{fmt, ops::Deref};

use fuse_runtime::MAX_RANK;

/// The dimensions of a value, outermost first, without an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Shape {
    rank: u8,
    dims: [usize; MAX_RANK],
}

impl Shape {
    /// At most [`MAX_RANK`] dimensions; more are cut off.
    pub(crate) fn new(dims: &[usize]) -> Self {
        let rank = dims.len().min(MAX_RANK);
        let mut shape = Self { rank: rank as u8, dims: [0; MAX_RANK] };
        shape.dims[..rank].copy_from_slice(&dims[..rank]);
        shape
    }

    /// The number of elements; saturates.
    pub(crate) fn elements(&self) -> usize {
        if self.contains(&0) { 0 } else { self.iter().fold(1, |product: usize, &dim| product.saturating_mul(dim)) }
    }

    /// The axes of extent 1, a bit each.
    pub(crate) fn ones(&self) -> u64 {
        self.iter().enumerate().fold(0, |bits, (axis, &dim)| bits | u64::from(dim == 1) << axis)
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
