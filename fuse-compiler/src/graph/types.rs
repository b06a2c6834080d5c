//! Dtypes, shapes, literals, and the enumerations of reductions and comparisons.

use std::hash::{Hash, Hasher};

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

impl Eq for Literal {}

impl Hash for Literal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Float(value) => value.to_bits().hash(state),
            Self::Integer(value) => value.hash(state),
            Self::Bool(value) => value.hash(state),
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

impl CompareOp {
    /// The comparison of the operands in the other order.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Eq | Self::Ne => self,
        }
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
