//! Operands of a launch: tensors, references to them, and host numbers.
//!
//! Element type and rank are types, because the expression form `fuse!(a * b + s)` does not know what its operands are.

use fuse_artifact::Function;
use half::f16;

use crate::{
    api::{
        arg::Arg,
        launch::launch_padded,
        rank::{Rank, Ranked},
        raw::RawTensor,
        tensor::Tensor,
    },
    context::{element::Element, error::Error},
};

/// An operand of `fuse!`: a [`Tensor`], a reference to one, or a host number, which broadcasts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an operand of `fuse!`",
    label = "expected a `Tensor`, a reference to one, or an `f32`, `f16`, `i32`, `u32` or `bool`",
    note = "quantized tensors are operands of functions: `fuse! {{ fn f(x: f32[M, K], w: q4[K, N]) -> f32[M, N] {{ matmul(x, w) }} }}`",
    note = "other numbers are converted outside of it: `let n = n as f32;`"
)]
pub trait Operand {
    /// The type of its elements.
    type Element: Element;
    /// Its number of axes.
    type Rank: Ranked;
    /// True for tensors, which know their device.
    const TENSOR: bool;

    /// The untyped argument of a launch.
    fn arg(&self) -> Arg<'_>;
}

/// An [`Operand`] with elements of type `T`, for the message if they are not.
#[diagnostic::on_unimplemented(
    message = "expected an operand of `fuse!` with elements of `{T}`, found `{Self}`",
    label = "the operands it is combined with have elements of `{T}`",
    note = "`fuse!` never converts element types by itself: write `x as f32` or `x as f16` in the expression"
)]
pub trait OperandOf<T>: Operand {}

impl<T: Element, const D: usize> Operand for Tensor<T, D> {
    type Element = T;
    type Rank = Rank<D>;
    const TENSOR: bool = true;

    fn arg(&self) -> Arg<'_> {
        Arg::Tensor(self.raw())
    }
}

impl<T: Element, const D: usize> OperandOf<T> for Tensor<T, D> {}

macro_rules! pointers {
    ($($pointer:ty),*) => { $(
        impl<O: Operand + ?Sized> Operand for $pointer {
            type Element = O::Element;
            type Rank = O::Rank;
            const TENSOR: bool = O::TENSOR;

            fn arg(&self) -> Arg<'_> {
                O::arg(self)
            }
        }

        impl<T, O: OperandOf<T> + ?Sized> OperandOf<T> for $pointer {}
    )* };
}

pointers! { &O, &mut O }

macro_rules! numbers {
    ($($ty:ty),*) => { $(
        impl Operand for $ty {
            type Element = $ty;
            type Rank = Rank<0>;
            const TENSOR: bool = false;

            fn arg(&self) -> Arg<'_> {
                Arg::from(*self)
            }
        }

        impl OperandOf<$ty> for $ty {}
    )* };
}

numbers! { f32, f16, i32, u32, bool }

/// Launches a function of the expression form, whose parameters are all tensors; result `r` has `ranks[r]` axes.
///
/// Host numbers become rank-0 tensors on the device of the first tensor.
#[doc(hidden)]
pub fn launch_operands<const N: usize, const R: usize>(
    function: &'static Function,
    operands: [Arg<'_>; N],
    ranks: [usize; R],
) -> Result<[RawTensor; R], Error> {
    let device = operands.iter().find_map(|operand| match operand {
        Arg::Tensor(tensor) => Some(tensor.device()),
        Arg::Quantized(_) | Arg::Scalar { .. } => None,
    });
    let device = device.ok_or_else(|| Error::NoTensor { kernel: function.name.to_string() })?;
    let mut numbers = [const { None }; N];
    for (number, operand) in numbers.iter_mut().zip(&operands) {
        if let Arg::Scalar { dtype, bits } = *operand {
            *number = Some(device.scalar_tensor(dtype, bits)?);
        }
    }
    let args: [Arg<'_>; N] = std::array::from_fn(|i| numbers[i].as_ref().map_or(operands[i], Arg::Tensor));
    launch_padded(function, &args, ranks)
}

#[cfg(test)]
mod tests {
    use fuse_artifact::DType;

    use super::*;

    fn rank<O: Operand>(_: &O) -> usize {
        O::Rank::AXES
    }

    #[test]
    fn numbers_and_references_to_them_are_operands_of_rank_0() {
        let scale = 2.5f32;
        assert_eq!((rank(&scale), rank(&&scale), rank(&true)), (0, 0, 0));
        assert!(matches!((&&scale).arg(), Arg::Scalar { dtype: DType::F32, bits } if bits == 2.5f32.to_bits()));
        assert!(matches!(f16::ONE.arg(), Arg::Scalar { dtype: DType::F16, bits } if bits == 1f32.to_bits()));
    }
}
