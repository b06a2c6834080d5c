//! Sizes that a program gives: numbers, and extents of values.
//!
//! `64` is part of the compiled function; `x.dim(0)` is whatever the extent is when the function runs, so that other batch sizes
//! compile nothing.

use std::ops::{Add, Mul, Sub};

use crate::{
    lazy::LazyTensor,
    node::{Input, Inputs},
};

/// A size that an operation is given: a number, the extent of an axis ([`LazyTensor::dim`]), or a sum, difference or product of such.
#[derive(Clone, Debug)]
pub struct Dim {
    pub(crate) size: usize,
    pub(crate) form: Form,
}

/// Where a size comes from.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Number,
    Axis(LazyTensor, u8),
    Of(Operator, Box<(Dim, Dim)>),
}

/// The most parts that a size stays open with: a loop may make it longer without end.
const MOST_PARTS: usize = 64;

/// What makes a size of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
}

/// A size as a node holds it: axes are those of the node's inputs.
#[derive(Clone, Debug)]
pub(crate) enum Extent {
    Number(usize),
    Axis { input: u16, axis: u8 },
    Of(Operator, Box<(Extent, Extent)>),
}

impl Dim {
    /// The size.
    pub fn get(&self) -> usize {
        self.size
    }

    /// How many numbers and axes it is made of.
    fn parts(&self) -> usize {
        match &self.form {
            Form::Number | Form::Axis(..) => 1,
            Form::Of(_, parts) => parts.0.parts() + parts.1.parts(),
        }
    }

    /// The size in terms of `inputs`, to which the values whose axes it names are added.
    pub(crate) fn extent(&self, inputs: &mut Inputs) -> Extent {
        match &self.form {
            Form::Number => Extent::Number(self.size),
            Form::Axis(of, axis) => {
                let same = |input: &Input| matches!(input, Input::Value(value) if value.is(of));
                let input = inputs.iter().position(same).unwrap_or_else(|| {
                    inputs.push(Input::Value(of.clone()));
                    inputs.len() - 1
                });
                Extent::Axis { input: input as u16, axis: *axis }
            }
            Form::Of(operator, parts) => {
                Extent::Of(*operator, Box::new((parts.0.extent(inputs), parts.1.extent(inputs))))
            }
        }
    }
}

impl Extent {
    /// Adds what tells it from others to a key.
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

impl From<usize> for Dim {
    fn from(size: usize) -> Self {
        Self { size, form: Form::Number }
    }
}

impl From<&Self> for Dim {
    fn from(dim: &Self) -> Self {
        dim.clone()
    }
}

/// A size of two; differences stop at 0, sums and products at the largest number. One of too many parts is a number.
fn of(operator: Operator, left: Dim, right: Dim) -> Dim {
    let size = match operator {
        Operator::Add => left.size.saturating_add(right.size),
        Operator::Sub => left.size.saturating_sub(right.size),
        Operator::Mul => left.size.saturating_mul(right.size),
    };
    match (&left.form, &right.form) {
        (Form::Number, Form::Number) => size.into(),
        _ if left.parts() + right.parts() > MOST_PARTS => size.into(),
        _ => Dim { size, form: Form::Of(operator, Box::new((left, right))) },
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident),*) => { $(
        impl<D: Into<Dim>> $operator<D> for Dim {
            type Output = Dim;

            fn $method(self, other: D) -> Dim {
                of(Operator::$operator, self, other.into())
            }
        }

        impl<D: Into<Dim>> $operator<D> for &Dim {
            type Output = Dim;

            fn $method(self, other: D) -> Dim {
                of(Operator::$operator, self.clone(), other.into())
            }
        }
    )* };
}

operators! { Add add, Sub sub, Mul mul }
