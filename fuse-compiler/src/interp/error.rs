//! Errors of evaluations.

use std::fmt;

use fuse_artifact::DType;

/// Error of evaluating a graph for given inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterpError {
    /// Number of inputs differs from the number of parameters.
    InputCount {
        /// Number of parameters.
        expected: usize,
        /// Number of inputs.
        found: usize,
    },
    /// Dtype of an input differs from its parameter's.
    InputDType {
        /// Parameter name.
        param: String,
        /// Parameter dtype.
        expected: DType,
        /// Input dtype.
        found: DType,
    },
    /// Rank of an input differs from its parameter's.
    InputRank {
        /// Parameter name.
        param: String,
        /// Parameter rank.
        expected: usize,
        /// Input rank.
        found: usize,
    },
    /// Extent of an input's axis differs from its dimension.
    InputExtent {
        /// Parameter name.
        param: String,
        /// Axis.
        axis: usize,
        /// Extent that the parameter's type requires.
        expected: usize,
        /// Input extent.
        found: usize,
    },
    /// Number of elements of a value does not match its shape.
    DataLength {
        /// Shape.
        shape: Vec<usize>,
        /// Number of elements.
        found: usize,
    },
    /// Extents do not broadcast.
    Broadcast {
        /// Dimension or operation.
        what: String,
        /// Extents.
        extents: Vec<usize>,
    },
    /// Relation between dimensions does not hold.
    Check {
        /// Subject of the relation.
        what: String,
        /// Left size.
        left: usize,
        /// Right size.
        right: usize,
    },
    /// Size is negative or too large.
    Size,
    /// Reshape changes the number of elements, or slice exceeds its operand.
    Movement {
        /// Operation name.
        op: &'static str,
        /// Operand shape.
        from: Vec<usize>,
        /// Result shape.
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
