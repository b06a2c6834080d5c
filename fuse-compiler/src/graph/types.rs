//! Dtypes, shapes, literals, reductions and comparisons.

use std::hash::{Hash, Hasher};

use fuse_artifact::{DType, Size};

/// Dtype and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Dtype.
    pub dtype: DType,
    /// Extents, outermost first.
    pub shape: Vec<Size>,
}

impl TensorType {
    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// Literal of a dtype.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// `f32` or `f16`, by the node's dtype; infinite or NaN after folding.
    Float(f64),
    /// `i32` or `u32`, in range.
    Integer(i64),
    /// Boolean.
    Bool(bool),
}

/// Interchangeable literals are equal: 0 and -0 differ, a NaN equals itself.
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
            /// All variants.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Name in the language.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

operations! {
    /// Reduction.
    ReduceOp {
        /// Sum; numbers.
        Sum = "sum",
        /// Product; numbers.
        Prod = "prod",
        /// Maximum; NaN if any is; numbers.
        Max = "max",
        /// Minimum; NaN if any is; numbers.
        Min = "min",
        /// Index of the first maximum or NaN along the only axis; numbers, yields `i32`.
        ArgMax = "argmax",
        /// Index of the first minimum or NaN along the only axis; numbers, yields `i32`.
        ArgMin = "argmin",
        /// True if any holds; bool.
        Any = "any",
        /// True if all hold; bool.
        All = "all",
    }
}

operations! {
    /// Comparison. With NaN, only `Ne` is true.
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
    /// True if the result is an index.
    pub fn yields_index(self) -> bool {
        matches!(self, Self::ArgMax | Self::ArgMin)
    }

    /// Words of a partial result: a value, or a value and its index.
    pub fn state_words(self) -> u32 {
        if self.yields_index() { 2 } else { 1 }
    }
}

impl CompareOp {
    /// Comparison of swapped operands.
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
    /// Type of its parts.
    pub fn new(dtype: DType, shape: Vec<Size>) -> Self {
        Self { dtype, shape }
    }

    /// Number of elements.
    pub fn elements(&self) -> Size {
        Size::product(&self.shape)
    }
}
