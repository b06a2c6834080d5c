//! Positions of values, words and scales of a quantized tensor.
//!
//! A tensor consists of *lines*: the values along the packed axis at each remaining index.

use fuse_artifact::Packing;

use crate::{Granularity, QuantScheme, QuantizeError, ScaleDType};

/// Values, words and scales are row-major in the logical shape, except along the packed axis.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    packing: Packing,
    shape: Vec<usize>,
    axis: usize,
    /// Stride of all three tensors along the packed axis.
    inner: usize,
    pub(crate) extent: usize,
    pub(crate) groups: usize,
    pub(crate) group: usize,
    pub(crate) lines: usize,
    pub(crate) values: usize,
    pub(crate) words: usize,
    pub(crate) pairs: usize,
}

pub(crate) fn axis_of(axis: Option<usize>, rank: usize) -> Result<usize, QuantizeError> {
    let axis = axis.unwrap_or(rank.saturating_sub(2));
    if axis < rank { Ok(axis) } else { Err(QuantizeError::Axis { axis, rank }) }
}

impl QuantScheme {
    /// Packed axis of a tensor of this shape, and the groups along it: 1 for scales per channel or tensor, and for
    /// empty axes.
    ///
    /// # Errors
    /// If the axis does not exist, or groups do not divide it or do not start at words.
    pub fn axis_and_groups(&self, shape: &[usize]) -> Result<(usize, usize), QuantizeError> {
        let axis = axis_of(self.axis, shape.len())?;
        Ok((axis, groups_of(self.granularity, axis, shape[axis])?))
    }
}

/// Groups along an axis; an empty axis is one group.
pub(crate) fn groups_of(granularity: Granularity, axis: usize, extent: usize) -> Result<usize, QuantizeError> {
    let Granularity::Group(group) = granularity else { return Ok(1) };
    let multiple = Packing::GROUP_MULTIPLE;
    match group {
        0 => Err(QuantizeError::GroupDoesNotDivide { group, axis, extent }),
        _ if group == extent || extent == 0 => Ok(1),
        _ if !extent.is_multiple_of(group) => Err(QuantizeError::GroupDoesNotDivide { group, axis, extent }),
        _ if !group.is_multiple_of(multiple) => Err(QuantizeError::GroupMultiple { group, multiple, axis, extent }),
        _ => Ok(extent / group),
    }
}

impl Layout {
    pub(crate) fn new(packing: Packing, shape: &[usize], axis: usize, groups: usize) -> Result<Self, QuantizeError> {
        let extent = *shape.get(axis).ok_or(QuantizeError::Axis { axis, rank: shape.len() })?;
        let divides = groups == 1 || (groups > 1 && extent > 0 && extent.is_multiple_of(groups));
        if !divides {
            return Err(QuantizeError::Groups { groups, axis, extent });
        }
        let (group, multiple) = (extent / groups, Packing::GROUP_MULTIPLE);
        if groups > 1 && !group.is_multiple_of(multiple) {
            return Err(QuantizeError::GroupMultiple { group, multiple, axis, extent });
        }
        let too_large = |argument| QuantizeError::TooLarge { argument, shape: shape.to_owned() };
        let product = |argument, sizes: &[usize]| {
            // A zero makes the product zero, however large the other sizes are.
            let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
            if sizes.contains(&0) { Ok(0) } else { product.ok_or_else(|| too_large(argument)) }
        };
        let others = [&shape[..axis], &shape[axis + 1..]];
        let lines = product("values", &others.concat())?;
        // Without lines, no position is looked up.
        let inner = if lines == 0 { 0 } else { product("values", others[1])? };
        let values = product("values", &[lines, extent])?;
        let words = product("words", &[lines, packing.words(extent)])?;
        // `f32` pairs take two words.
        let pairs = product("scales", &[lines, groups, 2])? / 2;
        Ok(Self { packing, shape: shape.to_owned(), axis, inner, extent, groups, group, lines, values, words, pairs })
    }

    pub(crate) fn packing(&self) -> Packing {
        self.packing
    }

    fn place(&self, line: usize, along: usize, extent: usize) -> usize {
        let (outer, inner) = (line / self.inner, line % self.inner);
        (outer * extent + along) * self.inner + inner
    }

    pub(crate) fn value(&self, line: usize, k: usize) -> usize {
        self.place(line, k, self.extent)
    }

    pub(crate) fn word(&self, line: usize, word: usize) -> usize {
        self.place(line, word, self.packing.words(self.extent))
    }

    pub(crate) fn pair(&self, line: usize, group: usize) -> usize {
        self.place(line, group, self.groups)
    }

    /// Index of a value, for messages.
    pub(crate) fn index(&self, line: usize, along: usize) -> Vec<usize> {
        let (mut outer, mut inner) = (line / self.inner.max(1), line % self.inner.max(1));
        let mut index = vec![along; self.shape.len()];
        for axis in (0..self.axis).rev() {
            index[axis] = outer % self.shape[axis];
            outer /= self.shape[axis];
        }
        for axis in (self.axis + 1..self.shape.len()).rev() {
            index[axis] = inner % self.shape[axis];
            inner /= self.shape[axis];
        }
        index
    }

    /// Line of a value and its position along the packed axis.
    pub(crate) fn line_of(&self, value: usize) -> (usize, usize) {
        let (before, inner) = (value / self.inner, value % self.inner);
        (before / self.extent * self.inner + inner, before % self.extent)
    }

    pub(crate) fn group_of(&self, pair: usize) -> (usize, usize) {
        let (before, inner) = (pair / self.inner, pair % self.inner);
        (before / self.groups * self.inner + inner, before % self.groups)
    }

    pub(crate) fn gather<T: Copy>(&self, values: &[T], line: usize, into: &mut Vec<T>) {
        into.clear();
        into.extend((0..self.extent).map(|k| values[self.value(line, k)]));
    }

    pub(crate) fn check(argument: &'static str, expected: usize, found: usize) -> Result<(), QuantizeError> {
        if expected == found { Ok(()) } else { Err(QuantizeError::Length { argument, expected, found }) }
    }

    pub(crate) fn check_values(&self, argument: &'static str, values: &[f32]) -> Result<(), QuantizeError> {
        Self::check(argument, self.values, values.len())?;
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(place) => {
                let (line, k) = self.line_of(place);
                Err(QuantizeError::NotFinite { argument, index: self.index(line, k), found: values[place] })
            }
        }
    }

    pub(crate) fn zero_words(&self) -> Result<Vec<u32>, QuantizeError> {
        self.zeros("words", self.words)
    }

    /// Zeros for all scales; tensors with an empty packed axis have scales, too.
    pub(crate) fn zero_scales(&self, dtype: ScaleDType) -> Result<Vec<u32>, QuantizeError> {
        self.zeros("scales", self.pairs * dtype.pair_words())
    }

    fn zeros(&self, argument: &'static str, count: usize) -> Result<Vec<u32>, QuantizeError> {
        let mut zeros = vec![];
        let reserved = zeros.try_reserve_exact(count);
        reserved.map_err(|_| QuantizeError::TooLarge { argument, shape: self.shape.clone() })?;
        zeros.resize(count, 0);
        Ok(zeros)
    }
}
