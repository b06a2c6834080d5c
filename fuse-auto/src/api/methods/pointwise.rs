//! Pointwise operations.

use fuse_artifact::{
    DType, DTypes,
    operations::{BINARY, Operation, UNARY, row},
};
use smallvec::smallvec;

use crate::{
    api::{
        lazy::LazyTensor,
        operand::{Given, Operand, common_inputs, plain},
        record::Request,
    },
    error::Error,
    node::Input,
    op::Op,
};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        impl LazyTensor { $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Error::Operation`] if it does not take the dtype.
            pub fn $name(&self) -> Result<Self, Error> {
                const ROW: &Operation = row(UNARY, stringify!($name));
                self.pointwise(ROW)
            }
        )* }

        /// The methods of operations of one operand.
        #[cfg(test)]
        pub(super) const UNARY_METHODS: &[&str] = &[$(stringify!($name)),*];
    };
}

unary! {
    /// `-x`.
    neg,
    /// `!x`; of integers, the bitwise complement.
    not,
    /// The absolute value.
    abs,
    /// -1, 0 or 1.
    sign,
    /// Rounded down.
    floor,
    /// Rounded up.
    ceil,
    /// Rounded to the nearest integer, ties to even.
    round,
    /// Rounded towards zero.
    trunc,
    /// `x - trunc(x)`.
    fract,
    /// The square root.
    sqrt,
    /// `1 / sqrt(x)`.
    rsqrt,
    /// The exponential.
    exp,
    /// `2^x`.
    exp2,
    /// The natural logarithm.
    log,
    /// The binary logarithm.
    log2,
    /// `log(1 + x)`.
    log1p,
    /// `exp(x) - 1`.
    expm1,
    /// The sine of an angle in radians.
    sin,
    /// The cosine of an angle in radians.
    cos,
    /// The tangent of an angle in radians.
    tan,
    /// The hyperbolic tangent.
    tanh,
    /// The arctangent in radians.
    atan,
    /// The arcsine in radians.
    asin,
    /// The arccosine in radians.
    acos,
    /// The hyperbolic sine.
    sinh,
    /// The hyperbolic cosine.
    cosh,
    /// The inverse hyperbolic sine.
    asinh,
    /// The inverse hyperbolic cosine.
    acosh,
    /// The inverse hyperbolic tangent.
    atanh,
    /// The error function.
    erf,
    /// `1 - erf(x)`.
    erfc,
    /// `1 / x`.
    recip,
    /// `max(x, 0)`.
    relu,
    /// The scaled exponential linear unit (SELU).
    selu,
    /// `x · Φ(x)`, exact.
    gelu,
    /// The `tanh` approximation of `gelu`.
    gelu_tanh,
    /// `x · sigmoid(x)`.
    silu,
    /// `1 / (1 + exp(-x))`.
    sigmoid,
    /// A piecewise linear `sigmoid`.
    hard_sigmoid,
    /// `x · hard_sigmoid(x)`.
    hard_swish,
    /// `log(1 + exp(x))`.
    softplus,
    /// `x · tanh(softplus(x))`.
    mish,
    /// True for NaN.
    isnan,
    /// True for infinities.
    isinf,
    /// True unless infinite or NaN.
    isfinite,
    /// The number of 1 bits.
    popcount,
    /// The bits of an `f32` as a `u32`.
    to_bits,
    /// The `f32` with these bits.
    from_bits,
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        impl LazyTensor { $(
            $(#[$doc])*
            ///
            /// # Errors
            /// [`Error::Operation`] if dtypes differ or are not taken, or if the shapes do not broadcast.
            pub fn $name(&self, other: impl Into<Operand>) -> Result<Self, Error> {
                const ROW: &Operation = row(BINARY, stringify!($name));
                Self::pair(ROW, self.into(), other.into())
            }
        )* }

        /// The methods of operations of two operands.
        #[cfg(test)]
        pub(super) const BINARY_METHODS: &[&str] = &[$(stringify!($name)),*];
    };
}

binary! {
    /// `x + y`.
    add,
    /// `x - y`.
    sub,
    /// `x * y`.
    mul,
    /// `x / y`; integer division truncates.
    div,
    /// The remainder, with the sign of `x`.
    rem,
    /// `x^y`.
    pow,
    /// The minimum of two values; along axes it is [`amin`](Self::amin).
    min,
    /// The maximum of two values; along axes it is [`amax`](Self::amax).
    max,
    /// The angle in radians of the point `(y, x)`; this value is `y`.
    atan2,
    /// `sqrt(x² + y²)`.
    hypot,
    /// `x && y`.
    and,
    /// `x || y`.
    or,
    /// Bitwise and; of truth values `and`.
    bitand,
    /// Bitwise or; of truth values `or`.
    bitor,
    /// Bitwise exclusive or.
    bitxor,
    /// Shift to higher bits.
    shl,
    /// Shift to lower bits.
    shr,
    /// A random `u32` from a counter and a key (Philox 2x32).
    philox,
    /// `x == y`.
    eq,
    /// `x != y`.
    ne,
    /// `x < y`.
    lt,
    /// `x <= y`.
    le,
    /// `x > y`.
    gt,
    /// `x >= y`.
    ge,
}

impl LazyTensor {
    pub(crate) fn pointwise(&self, operation: &'static Operation) -> Result<Self, Error> {
        let node = plain(self, operation.name, operation.takes)?;
        let dtype = operation.yields.unwrap_or(node.dtype);
        Request::new(Op::Pointwise(operation), dtype, smallvec![Input::of(node)]).record_as(node.shape)
    }

    pub(crate) fn pair(operation: &'static Operation, left: Operand, right: Operand) -> Result<Self, Error> {
        if let (Given::Number(own, number), true) = (&right.0, matches!(operation.name, "div" | "rem"))
            && *number == 0.0
            && left.tensor_dtype()?.is_some_and(|dtype| dtype.is_integer())
        {
            let message = format!("an integer is divided by 0 (`{own}`)");
            return Err(Error::operation(operation.name, message, "divide by another number, or `cast` to a float"));
        }
        let (dtype, inputs) = common_inputs(operation.name, operation.takes, [left, right])?;
        Request::new(Op::Pointwise(operation), operation.yields.unwrap_or(dtype), inputs).record()
    }

    /// Converts to another dtype, as `x as f16` in the language.
    ///
    /// # Errors
    /// [`Error::Operation`] for a quantized tensor.
    pub fn cast(&self, dtype: DType) -> Result<Self, Error> {
        let node = plain(self, "as", DTypes::ANY)?;
        if node.dtype == dtype {
            return Ok(self.clone());
        }
        Request::new(Op::Cast(dtype), dtype, smallvec![Input::of(node)]).record_as(node.shape)
    }

    /// `on_true` where this is true, `on_false` elsewhere.
    ///
    /// # Errors
    /// [`Error::Operation`] if this is not `bool`, if the operands' dtypes differ, or if shapes do not broadcast.
    pub fn select(&self, on_true: impl Into<Operand>, on_false: impl Into<Operand>) -> Result<Self, Error> {
        let condition = plain(self, "select", DTypes::BOOL)?;
        let (on_true, on_false) = (on_true.into(), on_false.into());
        let dtype = match (on_true.tensor_dtype()?, &on_true.0, &on_false.0) {
            (None, Given::Number(own, _), Given::Number(other, _)) => {
                // Without a tensor that determines the dtype.
                Some(if own.is_float() {
                    *own
                } else if other.is_float() {
                    *other
                } else {
                    *own
                })
            }
            _ => None,
        };
        let (dtype, values) = match dtype {
            Some(dtype) => {
                let values = [on_true.input("select", dtype)?, on_false.input("select", dtype)?];
                (dtype, values.into_iter().collect())
            }
            None => common_inputs("select", DTypes::ANY, [on_true, on_false])?,
        };
        let mut inputs = smallvec![Input::of(condition)];
        inputs.extend(values);
        Request::new(Op::Call("select"), dtype, inputs).record()
    }

    /// Limits values to `low..=high`.
    ///
    /// # Errors
    /// [`Error::Operation`] if dtypes differ, or if shapes do not broadcast.
    pub fn clamp(&self, low: impl Into<Operand>, high: impl Into<Operand>) -> Result<Self, Error> {
        let operands = [self.into(), low.into(), high.into()];
        let (dtype, inputs) = common_inputs("clamp", DTypes::NUMBERS, operands)?;
        Request::new(Op::Call("clamp"), dtype, inputs).record()
    }

    /// `x + t · (y - x)`.
    ///
    /// # Errors
    /// [`Error::Operation`] if dtypes differ or are no floats, or if shapes do not broadcast.
    pub fn lerp(&self, to: impl Into<Operand>, t: impl Into<Operand>) -> Result<Self, Error> {
        let (dtype, inputs) = common_inputs("lerp", DTypes::FLOATS, [self.into(), to.into(), t.into()])?;
        Request::new(Op::Call("lerp"), dtype, inputs).record()
    }

    /// `x`, or `slope · x` where `x` is negative. The slope broadcasts.
    ///
    /// # Errors
    /// As [`lerp`](Self::lerp).
    pub fn leaky_relu(&self, slope: impl Into<Operand>) -> Result<Self, Error> {
        self.scaled("leaky_relu", "slope", slope.into())
    }

    /// `x`, or `alpha · (exp(x) - 1)` where `x` is negative. Alpha broadcasts.
    ///
    /// # Errors
    /// As [`lerp`](Self::lerp).
    pub fn elu(&self, alpha: impl Into<Operand>) -> Result<Self, Error> {
        self.scaled("elu", "alpha", alpha.into())
    }

    fn scaled(&self, name: &'static str, option: &'static str, number: Operand) -> Result<Self, Error> {
        let (dtype, inputs) = common_inputs(name, DTypes::FLOATS, [self.into(), number])?;
        Request::new(Op::Scaled(name, option), dtype, inputs).record()
    }

    /// Values as constants for gradients.
    ///
    /// # Errors
    /// [`Error::Operation`] for a quantized tensor.
    pub fn stop_gradient(&self) -> Result<Self, Error> {
        let node = plain(self, "stop_gradient", DTypes::ANY)?;
        Request::new(Op::StopGradient, node.dtype, smallvec![Input::of(node)]).record_as(node.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_method() {
        let names = |table: &'static [Operation]| table.iter().map(|row| row.name).collect::<Vec<_>>();
        assert_eq!(names(UNARY), UNARY_METHODS);
        assert_eq!(names(BINARY), BINARY_METHODS);
    }
}
