//! Errors of GGUF files.
//!
//! Names are truncated to [`MAX_NAME`] characters, since a hostile one may be as long as the file.

use std::{fmt, io};

use thiserror::Error;

use crate::blocks::BlockType;

const MAX_NAME: usize = 96;

/// Error of reading a GGUF file.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file does not start with `GGUF`.
    #[error("expected a file that starts with `GGUF`, found {found:02x?}")]
    Magic {
        /// First four bytes.
        found: [u8; 4],
    },
    /// The file's numbers are big endian.
    #[error("expected a little-endian file, found a big-endian one of version {version}")]
    BigEndian {
        /// Version, read as big endian.
        version: u32,
    },
    /// The file has another version of the format.
    #[error("expected GGUF version 2 or 3, found {found}")]
    Version {
        /// Version.
        found: u32,
    },
    /// The file ends within an element.
    #[error("{place}: expected {expected} bytes at offset {offset}, found {found}")]
    Truncated {
        /// Element being read.
        place: String,
        /// Offset in the file.
        offset: usize,
        /// Bytes required.
        expected: u64,
        /// Bytes left.
        found: usize,
    },
    /// A count exceeds the rest of the file.
    #[error("{place}: expected at most {most} entries in what is left of the file, found a count of {found}")]
    Count {
        /// Element being read.
        place: String,
        /// Number of smallest entries that fit.
        most: u64,
        /// Count.
        found: u64,
    },
    /// A string is not UTF-8.
    #[error("{place}: expected UTF-8, found another byte after the first {valid}")]
    Utf8 {
        /// Element being read.
        place: String,
        /// Length of the valid UTF-8 prefix.
        valid: usize,
    },
    /// A value or an array's element has a type that does not exist.
    #[error("key `{key}`: expected a value type from 0 to 12, found {found}")]
    ValueType {
        /// Key.
        key: String,
        /// Type's number.
        found: u32,
    },
    /// A boolean is neither 0 nor 1.
    #[error("key `{key}`: expected a boolean 0 or 1, found {found}")]
    Bool {
        /// Key.
        key: String,
        /// Byte.
        found: u8,
    },
    /// Arrays are nested too deeply.
    #[error("key `{key}`: expected at most {most} arrays within each other, found more")]
    Depth {
        /// Key.
        key: String,
        /// Limit.
        most: usize,
    },
    /// Two metadata entries have the same key.
    #[error("key `{key}`: expected it once, found it again")]
    DuplicateKey {
        /// Key.
        key: String,
    },
    /// The alignment is no power of two.
    #[error("key `general.alignment`: expected a power of two of type u32, found {found}")]
    Alignment {
        /// Value or its type.
        found: String,
    },
    /// Two tensors have the same name.
    #[error("tensor `{tensor}`: expected it once, found it again")]
    DuplicateTensor {
        /// Tensor.
        tensor: String,
    },
    /// A tensor has too many dimensions.
    #[error("tensor `{tensor}`: expected at most {most} dimensions, found {found}")]
    Rank {
        /// Tensor.
        tensor: String,
        /// Limit.
        most: usize,
        /// Rank.
        found: u32,
    },
    /// A tensor's elements overflow.
    #[error("tensor `{tensor}`: expected a shape whose elements and bytes can be counted, found {found:?}")]
    Shape {
        /// Tensor.
        tensor: String,
        /// Dimensions in file order: innermost first.
        found: Vec<u64>,
    },
    /// A tensor's rows are not whole blocks.
    #[error("tensor `{tensor}`: expected rows of a multiple of {block_len} elements for {ty}, found {found}")]
    Row {
        /// Tensor.
        tensor: String,
        /// Its type.
        ty: BlockType,
        /// Elements of a block.
        block_len: usize,
        /// Elements of a row.
        found: u64,
    },
    /// A tensor's offset is not aligned.
    #[error("tensor `{tensor}`: expected an offset that is a multiple of {alignment}, found {found}")]
    Unaligned {
        /// Tensor.
        tensor: String,
        /// File's alignment.
        alignment: usize,
        /// Offset, from the start of the data.
        found: u64,
    },
    /// A tensor exceeds the end of the file.
    #[error("tensor `{tensor}`: expected {expected} bytes at offset {offset} of the data, found {found} bytes of data")]
    OutOfBounds {
        /// Tensor.
        tensor: String,
        /// Its offset, from the start of the data.
        offset: u64,
        /// Its bytes.
        expected: u64,
        /// Bytes of all data.
        found: usize,
    },
    /// Two tensors overlap.
    #[error("tensor `{tensor}`: expected an offset from {expected}, where `{other}` ends, found {found}")]
    Overlap {
        /// Tensor with the larger offset.
        tensor: String,
        /// Tensor with the smaller offset.
        other: String,
        /// End of the first.
        expected: usize,
        /// Start of the later.
        found: usize,
    },
    /// The file cannot be read.
    #[error("file `{path}`: expected to read it, found: {message}")]
    Io {
        /// Path.
        path: String,
        /// Kind of the failure.
        kind: io::ErrorKind,
        /// Message of the system.
        message: String,
    },
}

/// Same as `Display`, for a `main` that returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
