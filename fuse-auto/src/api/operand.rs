//! Operands: lazy tensors, and numbers that take a tensor's dtype.

use std::{ops::RangeInclusive, sync::Arc};

use fuse_artifact::{DType, DTypes, Packing};
use fuse_runtime::{Element, f16};

use crate::{
    api::lazy::LazyTensor,
    error::Error,
    node::{Input, Inputs, Node},
};

/// An operand: a lazy tensor, or a number of the host.
///
/// A number takes the dtype of the tensor it meets, if that can hold it. It is an argument of the compiled function.
#[derive(Clone, Debug)]
pub struct Operand(pub(crate) Given);

#[derive(Clone, Debug)]
pub(crate) enum Given {
    Value(LazyTensor),
    Number(DType, f64),
}

impl From<&LazyTensor> for Operand {
    fn from(value: &LazyTensor) -> Self {
        Self(Given::Value(value.clone()))
    }
}

impl From<LazyTensor> for Operand {
    fn from(value: LazyTensor) -> Self {
        Self(Given::Value(value))
    }
}

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl From<$ty> for Operand {
            fn from(value: $ty) -> Self {
                Self(Given::Number(<$ty>::DTYPE, value.into()))
            }
        }
    )* };
}

numbers! { f32, f16, i32, u32 }

/// As an `f32`.
impl From<f64> for Operand {
    fn from(value: f64) -> Self {
        Self(Given::Number(DType::F32, value))
    }
}

macro_rules! integers {
    ($($ty:ty),*) => { $(
        /// An integer of the dtype it meets.
        impl From<$ty> for Operand {
            fn from(value: $ty) -> Self {
                Self(Given::Number(DType::I32, value as f64))
            }
        }
    )* };
}

integers! { i64, usize }

impl From<bool> for Operand {
    fn from(value: bool) -> Self {
        Self(Given::Number(DType::Bool, f64::from(u8::from(value))))
    }
}

impl Operand {
    pub(crate) fn tensor_dtype(&self) -> Result<Option<DType>, Error> {
        match &self.0 {
            Given::Value(value) => Ok(Some(value.node()?.dtype)),
            Given::Number(..) => Ok(None),
        }
    }

    /// The operand as an input; fails if a number does not fit the dtype.
    pub(crate) fn input(self, operation: &'static str, dtype: DType) -> Result<Input, Error> {
        match self.0 {
            Given::Value(value) => Ok(Input::of(value.node()?)),
            Given::Number(own, number) => match bits(own, number, dtype) {
                Some(bits) => Ok(Input::Number { dtype, bits }),
                None => Err(Error::operation(
                    operation,
                    match own {
                        DType::Bool => format!("a number of `{own}` meets `{dtype}`, which does not hold it"),
                        _ => format!("the number {number} of `{own}` meets `{dtype}`, which does not hold it"),
                    },
                    "convert the tensor with `cast`, or give a number of its dtype",
                )),
            },
        }
    }

    /// A single number of the host, or a tensor of rank 0.
    pub(crate) fn single(self, operation: &'static str, name: &str, dtype: DType) -> Result<Input, Error> {
        if let Given::Value(value) = &self.0 {
            let node = value.node()?;
            if node.dtype != dtype || !node.shape.is_empty() || node.packing.is_some() {
                let message = format!("`{name}` is one `{dtype}`, found `{}`", node.type_text());
                return Err(Error::operation(operation, message, format!("give a number, or a tensor `{dtype}`")));
            }
        }
        self.input(operation, dtype)
    }
}

/// Bits of a number as `dtype`, if that can hold it.
fn bits(own: DType, number: f64, dtype: DType) -> Option<u32> {
    let is_whole = own.is_integer();
    match dtype {
        DType::F32 | DType::F16 if own != DType::Bool => dtype.keeps(number).then_some((number as f32).to_bits()),
        DType::I32 if is_whole && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number) => {
            Some((number as i32).cast_unsigned())
        }
        DType::U32 if is_whole && (0.0..=f64::from(u32::MAX)).contains(&number) => Some(number as u32),
        DType::Bool if own == DType::Bool => Some(u32::from(number != 0.0)),
        _ => None,
    }
}

pub(crate) fn plain<'n>(value: &'n LazyTensor, operation: &'static str, takes: DTypes) -> Result<&'n Arc<Node>, Error> {
    let node = value.node()?;
    if let Some((packing, _)) = node.packing {
        return Err(quantized(operation, packing));
    }
    if !takes.contains(node.dtype) {
        let message = format!("takes {}, found `{}`", named(takes), node.type_text());
        return Err(Error::operation(operation, message, "convert it with `cast`"));
    }
    Ok(node)
}

/// Inputs of one dtype; tensors determine the dtype of numbers.
pub(crate) fn common_inputs<const N: usize>(
    operation: &'static str,
    takes: DTypes,
    operands: [Operand; N],
) -> Result<(DType, Inputs), Error> {
    let mut dtype = None;
    for operand in &operands {
        if let Given::Value(value) = &operand.0 {
            let node = plain(value, operation, takes)?;
            match dtype {
                None => dtype = Some(node.dtype),
                Some(first) if first == node.dtype => {}
                Some(first) => {
                    let message = format!("operands have different dtypes: `{first}` and `{}`", node.dtype);
                    return Err(Error::operation(operation, message, format!("convert one: `cast(DType::{first:?})`")));
                }
            }
        }
    }
    let Some(dtype) = dtype else {
        return Err(Error::operation(operation, "it has no tensor", "use at least one tensor: it says the device"));
    };
    let inputs = operands.into_iter().map(|operand| operand.input(operation, dtype)).collect::<Result<_, _>>()?;
    Ok((dtype, inputs))
}

pub(crate) fn quantized(operation: &'static str, packing: Packing) -> Error {
    Error::operation(
        operation,
        format!("takes numbers, found a quantized tensor of `{}`", packing.name()),
        "only the right operand of `matmul` may be quantized; elsewhere use `dequantize`, which is computed in place",
    )
}

fn named(dtypes: DTypes) -> &'static str {
    match dtypes {
        DTypes::F32 => "`f32`",
        DTypes::U32 => "`u32`",
        DTypes::BOOL => "`bool`",
        DTypes::FLOATS => "floats",
        DTypes::INTEGERS => "integers",
        DTypes::SIGNED => "signed numbers",
        DTypes::BITS => "integers or `bool`",
        DTypes::NUMBERS => "numbers",
        _ => "any dtype",
    }
}

pub(crate) fn indices<'n>(value: &'n LazyTensor, operation: &'static str) -> Result<&'n Arc<Node>, Error> {
    let node = value.node()?;
    if matches!(node.dtype, DType::I32 | DType::U32) {
        return Ok(node);
    }
    let message = format!("takes indices of `i32` or `u32`, found `{}`", node.type_text());
    Err(Error::operation(operation, message, "convert them with `cast`"))
}

pub(crate) fn require_rank(node: &Node, operation: &'static str, rank: RangeInclusive<usize>) -> Result<(), Error> {
    let found = node.shape.len();
    if rank.contains(&found) {
        return Ok(());
    }
    let expected = match (*rank.start(), *rank.end()) {
        (from, to) if from == to => format!("{from} axes"),
        (from, usize::MAX) => format!("at least {from} axes"),
        (from, to) => format!("{from} to {to} axes"),
    };
    let message = format!("takes a value with {expected}, found `{}`", node.type_text());
    Err(Error::operation(operation, message, "`reshape`, `unsqueeze` and `squeeze` change ranks"))
}
