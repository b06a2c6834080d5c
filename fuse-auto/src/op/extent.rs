//! Sizes of an operation, in terms of its inputs' extents.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
}

/// A size of an operation. Axes are those of the node's inputs; a size among the inputs has itself as axis 0.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    Number(usize),
    Axis { input: u16, axis: u8 },
    Of(Operator, Box<(Extent, Extent)>),
}

impl Extent {
    pub(crate) fn key(&self, words: &mut Vec<u64>) {
        match self {
            Self::Number(number) => words.extend([1, *number as u64]),
            Self::Axis { input, axis } => words.extend([2, u64::from(*input) << 8 | u64::from(*axis)]),
            Self::Of(operator, parts) => {
                words.push(3 + *operator as u64);
                parts.0.key(words);
                parts.1.key(words);
            }
        }
    }
}
