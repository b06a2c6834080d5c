//! Sizes that operations take.
//!
//! A literal such as `64` is compiled in. `x.dim(0)` and `Dim::open(64)` are known at launch, so other sizes compile
//! nothing.

use std::{
    ops::{Add, Mul, Sub},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{
    node::{Input, Inputs, Node},
    op::extent::{Extent, Operator},
};

/// A size: a number, an axis ([`LazyTensor::dim`](crate::LazyTensor::dim)), an argument ([`Dim::open`]), or a sum,
/// difference or product of these.
#[derive(Clone, Debug)]
pub struct Dim {
    pub(crate) size: usize,
    pub(crate) form: Form,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Number,
    Axis(Arc<Node>, u8),
    /// Identity of an argument.
    Open(u32),
    Of(Operator, Box<(Dim, Dim)>),
}

/// Maximum number of parts; loops could grow a size without end.
const MOST_PARTS: usize = 64;

static NEXT_OPEN: AtomicU32 = AtomicU32::new(0);

impl Dim {
    /// A size that is an argument of the compiled function, so other values compile nothing.
    ///
    /// Clones are the same argument; two calls make two arguments. A size of 2³² or more is compiled in.
    ///
    /// ```no_run
    /// # use fuse_auto::{Dim, Error, LazyTensor};
    /// # fn rows(x: &LazyTensor, n: usize) -> Result<LazyTensor, Error> {
    /// let n = Dim::open(n);
    /// x.broadcast_to([n, x.dim(0)]) // one function for every `n`
    /// # }
    /// ```
    pub fn open(size: usize) -> Self {
        match u32::try_from(size) {
            Ok(_) => Self { size, form: Form::Open(NEXT_OPEN.fetch_add(1, Ordering::Relaxed)) },
            Err(_) => size.into(),
        }
    }

    /// A range of numbers as open start and open length, unless reversed.
    pub(crate) fn open_range(start: Self, end: Self) -> [Self; 2] {
        match (&start.form, &end.form) {
            (Form::Number, Form::Number) if start.size <= end.size => {
                let length = Self::open(end.size - start.size);
                let start = Self::open(start.size);
                [start.clone(), start + length]
            }
            _ => [start, end],
        }
    }

    /// Value of the size.
    pub fn get(&self) -> usize {
        self.size
    }

    fn parts(&self) -> usize {
        match &self.form {
            Form::Number | Form::Axis(..) | Form::Open(_) => 1,
            Form::Of(_, parts) => parts.0.parts() + parts.1.parts(),
        }
    }

    /// The size in terms of `inputs`, to which it appends the values whose axes it names.
    pub(crate) fn extent(&self, inputs: &mut Inputs) -> Extent {
        match &self.form {
            Form::Number => Extent::Number(self.size),
            Form::Axis(of, axis) => {
                let same = |input: &Input| matches!(input, Input::Value(node) if Arc::ptr_eq(node, of));
                let input = inputs.iter().position(same).unwrap_or_else(|| {
                    inputs.push(Input::of(of));
                    inputs.len() - 1
                });
                Extent::Axis { input: input as u16, axis: *axis }
            }
            Form::Open(identity) => {
                let same = |input: &Input| matches!(input, Input::Size { identity: other, .. } if other == identity);
                let input = inputs.iter().position(same).unwrap_or_else(|| {
                    inputs.push(Input::Size { identity: *identity, size: self.size });
                    inputs.len() - 1
                });
                Extent::Axis { input: input as u16, axis: 0 }
            }
            Form::Of(operator, parts) => {
                Extent::Of(*operator, Box::new((parts.0.extent(inputs), parts.1.extent(inputs))))
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

/// Combines two sizes; saturates. A size of too many parts becomes a number.
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
