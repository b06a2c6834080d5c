//! Why something cannot be quantized.

use std::fmt;

use thiserror::Error;

/// Why values, scales or codes are not what they should be.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum QuantizeError {
    /// A slice has another length than its shape says.
    #[error("{argument}: expected {expected} elements, found {found}")]
    Length {
        /// The argument.
        argument: &'static str,
        /// The length that the shape asks for.
        expected: usize,
        /// Its length.
        found: usize,
    },
    /// The sizes of a shape multiply to more than memory holds.
    #[error("{argument}: expected a size that memory holds, found shape {shape:?}")]
    TooLarge {
        /// What would be too large.
        argument: &'static str,
        /// The shape.
        shape: Vec<usize>,
    },
    /// There is no such axis.
    #[error("axis: expected one of {rank} axes, found {axis}")]
    Axis {
        /// The axis.
        axis: usize,
        /// The number of axes.
        rank: usize,
    },
    /// The tensor has another number of axes.
    #[error("shape: expected a matrix `[outputs, inputs]` or `[inputs, outputs]`, found {shape:?}")]
    NotAMatrix {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Groups do not divide the packed axis.
    #[error("group: expected a divisor of {extent}, the extent of axis {axis}, found {group}")]
    GroupDoesNotDivide {
        /// Values of a group.
        group: usize,
        /// The packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// Groups do not begin at words.
    #[error("group: expected a multiple of {multiple} or all {extent} values of axis {axis}, found {group}")]
    GroupMultiple {
        /// Values of a group.
        group: usize,
        /// What must divide it.
        multiple: usize,
        /// The packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// The number of groups does not divide the packed axis.
    #[error("groups: expected a divisor of {extent}, the extent of axis {axis}, found {groups}")]
    Groups {
        /// The number of groups.
        groups: usize,
        /// The packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
    },
    /// A number is infinite or NaN.
    #[error("{argument}{index:?}: expected a finite number, found {found}")]
    NotFinite {
        /// The argument.
        argument: &'static str,
        /// Where it is; of a matrix `[outputs, inputs]`, row and column.
        index: Vec<usize>,
        /// The number.
        found: f32,
    },
    /// A scale or offset does not fit how scales are stored.
    #[error(
        "{what} of group {index:?}: expected at most {most} in magnitude, which {dtype} scales hold, found {found}"
    )]
    ScaleRange {
        /// Which of both.
        what: &'static str,
        /// The group: the index of its values, with the number of the group along the packed axis.
        index: Vec<usize>,
        /// How scales are stored.
        dtype: &'static str,
        /// The largest that fits.
        most: f32,
        /// The number.
        found: f32,
    },
    /// A scale or offset is not a number that the storage holds exactly.
    #[error("{what} of group {index:?}: expected a number that {dtype} holds exactly, found {found}")]
    ScaleInexact {
        /// Which of both.
        what: &'static str,
        /// The group.
        index: Vec<usize>,
        /// How scales are stored.
        dtype: &'static str,
        /// The number.
        found: f32,
    },
    /// A code takes more bits than there are.
    #[error("codes{index:?}: expected 0 to {most}, found {found}")]
    Code {
        /// Where it is.
        index: Vec<usize>,
        /// The largest.
        most: u32,
        /// The code.
        found: u32,
    },
    /// Activations of another layer, or not whole rows.
    #[error("{argument}: expected rows of {expected}, found {found} elements")]
    Rows {
        /// The argument.
        argument: &'static str,
        /// Elements of a row.
        expected: usize,
        /// Elements that were given.
        found: usize,
    },
    /// The calibration is of a layer with another number of inputs or outputs.
    #[error("calibration: expected {expected} {what}, as the weights have, found {found}")]
    Calibration {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// Those of the weights.
        expected: usize,
        /// Those of the calibration.
        found: usize,
    },
    /// Activations are so large that sums of their products are not finite.
    #[error("calibration: expected activations whose products have finite sums, found input {input} with {found}")]
    Curvature {
        /// The input.
        input: usize,
        /// The sum.
        found: f64,
    },
}

/// As `Display` says it: that is what a program prints whose `main` returns the error.
impl fmt::Debug for QuantizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
