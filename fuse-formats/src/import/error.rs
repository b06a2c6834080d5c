//! Errors of lossless import.

use std::fmt;

use fuse_quantize::QuantizeError;
use thiserror::Error;

use crate::packed;

/// Error of importing weights without requantization, or at all.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The type has no codes and scales, or no decoder.
    #[error(
        "{what}: expected blocks of Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, TQ1_0 or TQ2_0 (or Q2_K, Q3_K or Q6_K with \
         scales that are equal in pairs)"
    )]
    Type {
        /// Tensor and its type.
        what: String,
    },
    /// The tensor has no axis or no value.
    #[error("{what}: expected an axis and a value at least, found shape {shape:?}")]
    Empty {
        /// Tensor or the format.
        what: String,
        /// Shape.
        shape: Vec<usize>,
    },
    /// Rows are not whole blocks.
    #[error("{what}: expected rows of a multiple of {block_len} values, found {found}")]
    Row {
        /// Tensor and its type.
        what: String,
        /// Values of a block.
        block_len: usize,
        /// Values of a row.
        found: usize,
    },
    /// The bytes do not match the shape.
    #[error("{what}: expected the bytes of shape {shape:?}, {}, found {found}", count(.expected))]
    Bytes {
        /// Tensor and its type.
        what: String,
        /// Shape.
        shape: Vec<usize>,
        /// Bytes of the shape, unless they overflow.
        expected: Option<usize>,
        /// Bytes that were passed.
        found: usize,
    },
    /// Arrays do not match their layout.
    #[error("{what}: {error}")]
    Packed {
        /// Format.
        what: String,
        /// Mismatch.
        error: packed::Error,
    },
    /// Rows are not in the order of their groups.
    #[error(
        "{what}: expected rows in the order of their groups, found g_idx[{row}] = {found} instead of {expected}, as \
         quantization by activation order (act-order, `desc_act`) makes it; sort the rows of `qweight` by group and the \
         layer's inputs alike, or decode to f32 and quantize again (`fuse_quantize::quantize`)"
    )]
    RowOrder {
        /// Format.
        what: String,
        /// First such row.
        row: usize,
        /// Expected group of the row.
        expected: usize,
        /// Group of the row.
        found: i32,
    },
    /// Runs of scales do not form valid groups.
    #[error(
        "{what}: expected a scale for each multiple of {multiple} values that divides axis {axis} of {extent}, or for all, \
         found one for each {found}{}; decode to f32 and quantize again (`fuse_quantize::quantize`)", place(.index)
    )]
    Runs {
        /// Tensor or the format.
        what: String,
        /// Packed axis.
        axis: usize,
        /// Its extent.
        extent: usize,
        /// Divisor of group sizes.
        multiple: usize,
        /// Values that share a scale.
        found: usize,
        /// First value of the first group with different scales or offsets; `None` if no groups fit the runs.
        index: Option<Vec<usize>>,
    },
    /// The product of a scale and a code is not finite.
    #[error("{what}: expected a scale whose product with code {code} is finite, found {found} at group {index:?}")]
    Range {
        /// Tensor or the format.
        what: String,
        /// Largest code.
        code: u32,
        /// Index of the group's values, with the group's number along the packed axis.
        index: Vec<usize>,
        /// Scale.
        found: f32,
    },
    /// The parts form no quantized tensor, usually for a scale or offset that is not finite.
    #[error("{what}: {error}")]
    Quantized {
        /// Tensor or the format.
        what: String,
        /// Mismatch.
        error: QuantizeError,
    },
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn count(expected: &Option<usize>) -> String {
    expected.map_or("more than can be counted".to_owned(), |expected| expected.to_string())
}

fn place(index: &Option<Vec<usize>>) -> String {
    index.as_ref().map_or(String::new(), |index| format!(" and different ones from value {index:?} on"))
}
