//! Rust's operators: their values carry errors.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use fuse_artifact::operations::{BINARY, Operation, row};
use fuse_runtime::f16;

use crate::api::{lazy::LazyTensor, operand::Operand};

// One implementation for all right operands, so that `x + 1` has a type before the literal has one.
macro_rules! with {
    ($operator:ident $method:ident $assign:ident $assign_method:ident $row:ident) => {
        impl<R: Into<Operand>> $operator<R> for &LazyTensor {
            type Output = LazyTensor;

            fn $method(self, right: R) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }

        impl<R: Into<Operand>> $operator<R> for LazyTensor {
            type Output = LazyTensor;

            fn $method(self, right: R) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }

        impl<R: Into<Operand>> $assign<R> for LazyTensor {
            fn $assign_method(&mut self, right: R) {
                *self = LazyTensor::of_result(LazyTensor::pair($row, (&*self).into(), right.into()));
            }
        }
    };
}

macro_rules! of_numbers {
    ($operator:ident $method:ident $row:ident, $($left:ty),*) => { $(
        impl $operator<&LazyTensor> for $left {
            type Output = LazyTensor;

            fn $method(self, right: &LazyTensor) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }

        impl $operator<LazyTensor> for $left {
            type Output = LazyTensor;

            fn $method(self, right: LazyTensor) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }
    )* };
}

// One float type for literals on the left, for the same reason.
macro_rules! operators {
    ($($operator:ident $method:ident $assign:ident $assign_method:ident $name:literal,)*) => { $(
        const _: () = {
            const ROW: &Operation = row(BINARY, $name);
            with! { $operator $method $assign $assign_method ROW }
            of_numbers! { $operator $method ROW, f32, f16, i32, u32 }
        };
    )* };
}

operators! {
    Add add AddAssign add_assign "add",
    Sub sub SubAssign sub_assign "sub",
    Mul mul MulAssign mul_assign "mul",
    Div div DivAssign div_assign "div",
    Rem rem RemAssign rem_assign "rem",
    BitAnd bitand BitAndAssign bitand_assign "bitand",
    BitOr bitor BitOrAssign bitor_assign "bitor",
    BitXor bitxor BitXorAssign bitxor_assign "bitxor",
    Shl shl ShlAssign shl_assign "shl",
    Shr shr ShrAssign shr_assign "shr",
}

impl Neg for &LazyTensor {
    type Output = LazyTensor;

    fn neg(self) -> LazyTensor {
        LazyTensor::of_result(LazyTensor::neg(self))
    }
}

impl Neg for LazyTensor {
    type Output = LazyTensor;

    fn neg(self) -> LazyTensor {
        LazyTensor::of_result(LazyTensor::neg(&self))
    }
}

impl Not for &LazyTensor {
    type Output = LazyTensor;

    fn not(self) -> LazyTensor {
        LazyTensor::of_result(LazyTensor::not(self))
    }
}

impl Not for LazyTensor {
    type Output = LazyTensor;

    fn not(self) -> LazyTensor {
        LazyTensor::of_result(LazyTensor::not(&self))
    }
}
