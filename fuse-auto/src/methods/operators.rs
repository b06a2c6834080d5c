//! Rust's operators. They cannot return an error, so their values carry it.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use fuse_runtime::f16;

use crate::{
    LazyTensor,
    operations::{BINARY, Operation, row},
};

macro_rules! with {
    ($operator:ident $method:ident $row:ident, $($right:ty),*) => { $(
        impl $operator<$right> for &LazyTensor {
            type Output = LazyTensor;

            fn $method(self, right: $right) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }

        impl $operator<$right> for LazyTensor {
            type Output = LazyTensor;

            fn $method(self, right: $right) -> LazyTensor {
                LazyTensor::of_result(LazyTensor::pair($row, self.into(), right.into()))
            }
        }
    )* };
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

macro_rules! operators {
    ($($operator:ident $method:ident $name:literal,)*) => { $(
        const _: () = {
            const ROW: &Operation = row(BINARY, $name);
            with! { $operator $method ROW, &LazyTensor, LazyTensor, f32, f16, i32, u32 }
            of_numbers! { $operator $method ROW, f32, f16, i32, u32 }
        };
    )* };
}

operators! {
    Add add "add",
    Sub sub "sub",
    Mul mul "mul",
    Div div "div",
    Rem rem "rem",
    BitAnd bitand "bitand",
    BitOr bitor "bitor",
    BitXor bitxor "bitxor",
    Shl shl "shl",
    Shr shr "shr",
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
