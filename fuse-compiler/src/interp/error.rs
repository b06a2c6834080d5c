//! Why a graph could not be evaluated.

use std::fmt;

use fuse_artifact::DType;

/// Why a graph could not be evaluated for given inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterpError {
    /// Not one input per parameter.
    InputCount {
        /// Number of parameters.
        expected: usize,
        /// Number of inputs.
        found: usize,
    },
    /// An input's dtype is not its parameter's.
    InputDType {
        /// The parameter.
        param: String,
        /// Its dtype.
        expected: DType,
        /// The input's dtype.
        found: DType,
    },
    /// An input's number of axes is not its parameter's.
    InputRank {
        /// The parameter.
        param: String,
        /// Its number of axes.
        expected: usize,
        /// The input's number of axes.
        found: usize,
    },
    /// An axis of an input does not have the extent that the dimensions ask for.
    InputExtent {
        /// The parameter.
        param: String,
        /// The axis.
        axis: usize,
        /// The extent that the parameter's type asks for.
        expected: usize,
        /// The input's extent.
        found: usize,
    },
    /// A value's data has not as many elements as its shape.
    DataLength {
        /// The shape.
        shape: Vec<usize>,
        /// Number of elements.
        found: usize,
    },
    /// Extents that should broadcast together do not.
    Broadcast {
        /// The dimension or operation.
        what: String,
        /// The extents.
        extents: Vec<usize>,
    },
    /// A relation between dimensions does not hold.
    Check {
        /// What it is about.
        what: String,
        /// The left size.
        left: usize,
        /// The right size.
        right: usize,
    },
    /// A size is negative or too large.
    Size,
    /// A reshape changes the number of elements, or a slice leaves its operand.
    Movement {
        /// The operation.
        op: &'static str,
        /// The operand's shape.
        from: Vec<usize>,
        /// The value's shape.
        to: Vec<usize>,
    },
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InputCount { expected, found } => write!(f, "expected {expected} inputs, found {found}"),
            Self::InputDType { param, expected, found } => {
                write!(f, "`{param}`: expected `{expected}`, found `{found}`")
            }
            Self::InputRank { param, expected, found } => {
                write!(f, "`{param}`: expected {expected} axes, found {found}")
            }
            Self::InputExtent { param, axis, expected, found } => {
                write!(f, "`{param}`, axis {axis}: expected extent {expected}, found {found}")
            }
            Self::DataLength { shape, found } => write!(f, "{found} elements do not make a tensor of shape {shape:?}"),
            Self::Broadcast { what, extents } => write!(f, "{what}: extents {extents:?} do not broadcast"),
            Self::Check { what, left, right } => write!(f, "{what}: {left} and {right} do not agree"),
            Self::Size => f.write_str("a dimension is negative or too large"),
            Self::Movement { op, from, to } => write!(f, "cannot {op} shape {from:?} to {to:?}"),
        }
    }
}

impl std::error::Error for InterpError {}
