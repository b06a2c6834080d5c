//! Why weights cannot become a quantized tensor as they are.
//!
//! Each error names the tensor or the format, what was expected, and what was found.

use std::fmt;

use fuse_quantize::QuantizeError;
use thiserror::Error;

use crate::packed;

/// Why weights cannot be imported without another quantization, or at all.
#[derive(Clone, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The type has no codes with scales: its elements are numbers, or there is no decoder for it.
    #[error(
        "{what}: expected blocks of Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, TQ1_0 or TQ2_0 (or Q2_K, Q3_K or Q6_K with \
         scales that are equal in pairs)"
    )]
    Type {
        /// The tensor and its type.
        what: String,
    },
    /// There is no axis to pack, or no value.
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
    /// There are not as many bytes as the shape says.
    #[error("{what}: expected the bytes of shape {shape:?}, {}, found {found}", count(.expected))]
    Bytes {
        /// The tensor and its type.
        what: String,
        /// The shape.
        shape: Vec<usize>,
        /// Its bytes, unless they are more than can be counted.
        expected: Option<usize>,
        /// Bytes that were passed.
        found: usize,
    },
    /// Arrays are not what their layout says.
    #[error("{what}: {error}")]
    Packed {
        /// The format.
        what: String,
        /// What is wrong with them.
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
        /// Its group in the order of rows.
        expected: usize,
        /// Its group.
        found: i32,
    },
    /// A scale belongs to fewer values than groups have, or to a number of them that does not make groups.
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
        /// What groups are multiples of.
        multiple: usize,
        /// Values that share a scale.
        found: usize,
        /// Where neighbouring scales or offsets first differ: the first value of the group that would hold both; `None` where
        /// no groups would hold them.
        index: Option<Vec<usize>>,
    },
    /// A scale is so large that its product with a code is not finite.
    #[error("{what}: expected a scale whose product with code {code} is finite, found {found} at group {index:?}")]
    Range {
        /// The tensor or the format.
        what: String,
        /// The largest code.
        code: u32,
        /// The group: the index of its values, with the number of the group along the packed axis.
        index: Vec<usize>,
        /// The scale.
        found: f32,
    },
    /// The parts do not make a quantized tensor: above all, a scale or offset is not finite.
    #[error("{what}: {error}")]
    Quantized {
        /// The tensor or the format.
        what: String,
        /// What is wrong with them.
        error: QuantizeError,
    },
}

/// As `Display` says it: that is what a program prints whose `main` returns the error.
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
