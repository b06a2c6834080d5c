//! Errors of lossless import.
//!
//! Each names the tensor or format, and what was expected and found.

use std::fmt;

use fuse_quantize::QuantizeError;
use thiserror::Error;

use crate::packed;

/// Error of importing weights without requantization, or at all.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The type has no codes and scales: its elements are numbers, or it has no decoder.
    #[error(
        "{what}: expected blocks of Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, TQ1_0 or TQ2_0 (or Q2_K, Q3_K or Q6_K with \
         scales that are equal in pairs)"
    )]
    Type {
        /// The tensor and its type.
        what: String,
    },
    /// The tensor has no axis or no value.
    #[error("{what}: expected an axis and a value at least, found shape {shape:?}")]
    Empty {
        /// The tensor or the format.
        what: String,
        /// The shape.
        shape: Vec<usize>,
    },
    /// Rows are not whole blocks.
    #[error("{what}: expected rows of a multiple of {block_len} values, found {found}")]
    Row {
        /// The tensor and its type.
        what: String,
        /// Values of a block.
        block_len: usize,
        /// Values of a row.
        found: usize,
    },
    /// The bytes do not match the shape.
    #[error("{what}: expected the bytes of shape {shape:?}, {}, found {found}", count(.expected))]
    Bytes {
        /// The tensor and its type.
        what: String,
        /// The shape.
        shape: Vec<usize>,
        /// Bytes of the shape, unless they overflow.
        expected: Option<usize>,
        /// Bytes that were passed.
        found: usize,
    },
    /// Arrays do not match their layout.
    #[error("{what}: {error}")]
    Packed {
        /// The format.
        what: String,
        /// The mismatch.
        error: packed::Error,
    },
    /// Rows are not in the order of their groups.
    #[error(
        "{what}: expected rows in the order of their groups, found g_idx[{row}] = {found} instead of {expected}, as \
         quantization by activation order (act-order, `desc_act`) makes it; sort the rows of `qweight` by group and the \
         layer's inputs alike, or decode to f32 and quantize again (`fuse_quantize::quantize`)"
    )]
    RowOrder {
        /// The format.
        what: String,
        /// The first such row.
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
        /// The tensor or the format.
        what: String,
        /// The packed axis.
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
        /// The tensor or the format.
        what: String,
        /// The largest code.
        code: u32,
        /// Index of the group's values, with the group's number along the packed axis.
        index: Vec<usize>,
        /// The scale.
        found: f32,
    },
    /// The parts form no quantized tensor, usually because a scale or offset is not finite.
    #[error("{what}: {error}")]
    Quantized {
        /// The tensor or the format.
        what: String,
        /// The mismatch.
        error: QuantizeError,
    },
}

/// Same as `Display`, because a program prints this if its `main` returns the error.
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
