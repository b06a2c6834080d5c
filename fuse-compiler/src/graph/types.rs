//! Dtypes, shapes and the enumerations of pointwise operations.

use fuse_artifact::{DType, Size};

/// The dtype and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The element type.
    pub dtype: DType,
    /// The dimensions, outermost first.
    pub shape: Vec<Size>,
}

impl TensorType {
    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// A literal with its dtype fixed by inference.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// An `f32` or `f16` value (the node's dtype says which); may be infinite or NaN after folding.
    Float(f64),
    /// An `i32` or `u32` value, in range.
    Integer(i64),
    /// A truth value.
    Bool(bool),
}

/// Literals are equal if kernels may use one for the other: 0 and -0 are not, a NaN is its own equal.
impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            _ => false,
        }
    }
}

macro_rules! operations {
    ($(#[$outer:meta])* $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum { $($(#[$doc])* $variant,)* }

        impl $enum {
            /// Every operation, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the language and in prints.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

operations! {
    /// A function of one element. Float only, unless said otherwise.
    UnaryOp {
        /// `-x`; floats and integers (wrapping for `u32`).
        Neg = "neg",
        /// `!x`; bool.
        Not = "not",
        /// Absolute value; floats and integers (`i32::MIN` stays).
        Abs = "abs",
        /// -1, 0 or 1; floats and `i32`, `u32`. `sign(NaN)` is NaN.
        Sign = "sign",
        /// Largest integer not above `x`.
        Floor = "floor",
        /// Smallest integer not below `x`.
        Ceil = "ceil",
        /// Nearest integer, ties to even.
        Round = "round",
        /// Square root; NaN below 0.
        Sqrt = "sqrt",
        /// `1/sqrt(x)`.
        Rsqrt = "rsqrt",
        /// `e^x`.
        Exp = "exp",
        /// `2^x`.
        Exp2 = "exp2",
        /// Natural logarithm.
        Log = "log",
        /// Binary logarithm.
        Log2 = "log2",
        /// `ln(1 + x)`, accurate near 0.
        Log1p = "log1p",
        /// `e^x - 1`, accurate near 0.
        Expm1 = "expm1",
        /// Sine of radians.
        Sin = "sin",
        /// Cosine of radians.
        Cos = "cos",
        /// Tangent of radians.
        Tan = "tan",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Arc tangent.
        Atan = "atan",
        /// Error function.
        Erf = "erf",
        /// `1/x`.
        Recip = "recip",
        /// `max(x, 0)`; `relu(NaN)` is NaN; floats and `i32`.
        Relu = "relu",
        /// `1.0507009873554805·(x > 0 ? x : 1.6732632423543772·(e^x - 1))` (Klambauer et al. 2017).
        Selu = "selu",
        /// `x/2·(1 + erf(x/√2))` (Hendrycks and Gimpel 2016).
        Gelu = "gelu",
        /// `x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))`.
        GeluTanh = "gelu_tanh",
        /// `x·sigmoid(x)`.
        Silu = "silu",
        /// `1/(1 + e^-x)`.
        Sigmoid = "sigmoid",
        /// `clamp(x/6 + 1/2, 0, 1)` (as PyTorch).
        HardSigmoid = "hard_sigmoid",
        /// `x·hard_sigmoid(x)`.
        HardSwish = "hard_swish",
        /// `ln(1 + e^x)`, without overflow.
        Softplus = "softplus",
        /// `x·tanh(softplus(x))` (Misra 2019).
        Mish = "mish",
    }
}

operations! {
    /// A function of two elements of one dtype.
    BinaryOp {
        /// `x + y`; numbers.
        Add = "add",
        /// `x - y`; numbers.
        Sub = "sub",
        /// `x·y`; numbers.
        Mul = "mul",
        /// `x / y`; numbers. Integers truncate; `x / 0` is `x` and `i32::MIN / -1` is `i32::MIN` (as WGSL).
        Div = "div",
        /// Remainder with the sign of `x`; numbers. Integers: `x % 0` is 0 (as WGSL).
        Rem = "rem",
        /// `x^y`; floats. NaN for a negative `x` unless `y` is an integer (as C's `pow`).
        Pow = "pow",
        /// The smaller; NaN if either is NaN; numbers.
        Min = "min",
        /// The larger; NaN if either is NaN; numbers.
        Max = "max",
        /// Logical and; bool.
        And = "and",
        /// Logical or; bool.
        Or = "or",
        /// Word `x % 4` of the Philox4x32-10 block with counter `(x / 4, 0, 0, 0)` and key `(y, 0)`; `u32` (Salmon et al.,
        /// Parallel random numbers: as easy as 1, 2, 3, 2011).
        Philox = "philox",
    }
}

operations! {
    /// How elements are taken together.
    ReduceOp {
        /// The sum; numbers.
        Sum = "sum",
        /// The product; numbers.
        Prod = "prod",
        /// The largest; NaN if any is NaN; numbers.
        Max = "max",
        /// The smallest; NaN if any is NaN; numbers.
        Min = "min",
        /// The index of the first largest element along the only axis, or of the first NaN; numbers, yields `i32`.
        ArgMax = "argmax",
        /// The index of the first smallest element along the only axis, or of the first NaN; numbers, yields `i32`.
        ArgMin = "argmin",
        /// Whether any holds; bool.
        Any = "any",
        /// Whether all hold; bool.
        All = "all",
    }
}

operations! {
    /// A comparison; false if either is NaN, except `Ne`, which is then true.
    CompareOp {
        /// `x == y`; any dtype.
        Eq = "eq",
        /// `x != y`; any dtype.
        Ne = "ne",
        /// `x < y`; numbers.
        Lt = "lt",
        /// `x <= y`; numbers.
        Le = "le",
        /// `x > y`; numbers.
        Gt = "gt",
        /// `x >= y`; numbers.
        Ge = "ge",
    }
}

impl ReduceOp {
    /// Whether the result is the index of an element, not a value.
    pub fn yields_index(self) -> bool {
        matches!(self, Self::ArgMax | Self::ArgMin)
    }

    /// Words of what is known of some of the elements: a value and, where the result is one, an index.
    pub fn state_words(self) -> u32 {
        if self.yields_index() { 2 } else { 1 }
    }
}

impl TensorType {
    /// A type from its parts.
    pub fn new(dtype: DType, shape: Vec<Size>) -> Self {
        Self { dtype, shape }
    }

    /// The number of elements.
    pub fn elements(&self) -> Size {
        Size::product(&self.shape)
    }
}
