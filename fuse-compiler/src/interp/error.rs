//! Errors of evaluations.

use std::fmt;

use fuse_artifact::DType;

/// Evaluation error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterpError {
    /// Inputs and parameters differ in number.
    InputCount {
        /// Parameters.
        expected: usize,
        /// Inputs.
        found: usize,
    },
    /// An input has another dtype than its parameter.
    InputDType {
        /// Parameter name.
        param: String,
        /// Parameter dtype.
        expected: DType,
        /// Input dtype.
        found: DType,
    },
    /// An input has another rank than its parameter.
    InputRank {
        /// Parameter name.
        param: String,
        /// Parameter rank.
        expected: usize,
        /// Input rank.
        found: usize,
    },
    /// An axis has another extent than its dimension.
    InputExtent {
        /// Parameter name.
        param: String,
        /// Axis.
        axis: usize,
        /// Required extent.
        expected: usize,
        /// Input extent.
        found: usize,
    },
    /// A value's elements do not match its shape.
    DataLength {
        /// Shape.
        shape: Vec<usize>,
        /// Elements.
        found: usize,
    },
    /// Extents do not broadcast.
    Broadcast {
        /// Dimension or operation.
        what: String,
        /// Extents.
        extents: Vec<usize>,
    },
    /// A relation of dimensions does not hold.
    Check {
        /// Subject.
        what: String,
        /// Left size.
        left: usize,
        /// Right size.
        right: usize,
    },
    /// A size is negative or too large.
    Size,
    /// A reshape changes the number of elements, or a slice exceeds its operand.
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
