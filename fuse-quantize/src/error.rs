//! Errors of quantization.

use std::fmt;

use thiserror::Error;

/// Error of invalid values, scales or codes.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum QuantizeError {
    /// A slice does not match its shape.
    #[error("{argument}: expected {expected} elements, found {found}")]
    Length {
        /// Argument.
        argument: &'static str,
        /// Expected length by the shape.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// A shape exceeds memory.
    #[error("{argument}: expected a size that memory holds, found shape {shape:?}")]
    TooLarge {
        /// Oversized argument.
        argument: &'static str,
        /// Shape.
        shape: Vec<usize>,
    },
    /// The axis does not exist.
    #[error("axis: expected one of {rank} axes, found {axis}")]
    Axis {
        /// Axis.
        axis: usize,
        /// Number of axes.
        rank: usize,
    },
    /// The tensor is no matrix.
    #[error("shape: expected a matrix `[outputs, inputs]` or `[inputs, outputs]`, found {shape:?}")]
    NotAMatrix {
        /// Shape.
        shape: Vec<usize>,
    },
    /// Groups do not divide the packed axis.
    #[error("group: expected a divisor of {extent}, the extent of axis {axis}, found {group}")]
    GroupDoesNotDivide {
        /// Values per group.
        group: usize,
        /// Packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// Groups do not start at words.
    #[error("group: expected a multiple of {multiple} or all {extent} values of axis {axis}, found {group}")]
    GroupMultiple {
        /// Values per group.
        group: usize,
        /// Required divisor.
        multiple: usize,
        /// Packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// The number of groups does not divide the packed axis.
    #[error("groups: expected a divisor of {extent}, the extent of axis {axis}, found {groups}")]
    Groups {
        /// Number of groups.
        groups: usize,
        /// Packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// A number is infinite or NaN.
    #[error("{argument}{index:?}: expected a finite number, found {found}")]
    NotFinite {
        /// Argument.
        argument: &'static str,
        /// Index of the number; for matrices `[outputs, inputs]`, row and column.
        index: Vec<usize>,
        /// Number.
        found: f32,
    },
    /// A scale or offset exceeds the range of its storage.
    #[error(
        "{what} of group {index:?}: expected at most {most} in magnitude, which {dtype} scales hold, found {found}"
    )]
    ScaleRange {
        /// `scale` or `offset`.
        what: &'static str,
        /// Index of the group's values, with the group's number along the packed axis.
        index: Vec<usize>,
        /// Storage of scales.
        dtype: &'static str,
        /// Largest magnitude that fits.
        most: f32,
        /// Number.
        found: f32,
    },
    /// The storage cannot represent a scale or offset exactly.
    #[error("{what} of group {index:?}: expected a number that {dtype} holds exactly, found {found}")]
    ScaleInexact {
        /// `scale` or `offset`.
        what: &'static str,
        /// Group.
        index: Vec<usize>,
        /// Storage of scales.
        dtype: &'static str,
        /// Number.
        found: f32,
    },
    /// A code has too many bits.
    #[error("codes{index:?}: expected 0 to {most}, found {found}")]
    Code {
        /// Index of the code.
        index: Vec<usize>,
        /// Largest valid code.
        most: u32,
        /// Code.
        found: u32,
    },
    /// Activations belong to another layer, or are not whole rows.
    #[error("{argument}: expected rows of {expected}, found {found} elements")]
    Rows {
        /// Argument.
        argument: &'static str,
        /// Elements per row.
        expected: usize,
        /// Elements found.
        found: usize,
    },
    /// Calibration and weights differ in inputs or outputs.
    #[error("calibration: expected {expected} {what}, as the weights have, found {found}")]
    Calibration {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// Number in the weights.
        expected: usize,
        /// Number in the calibration.
        found: usize,
    },
    /// Sums of products of activations are not finite.
    #[error("calibration: expected activations whose products have finite sums, found input {input} with {found}")]
    Curvature {
        /// Input.
        input: usize,
        /// Sum.
        found: f64,
    },
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for QuantizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
