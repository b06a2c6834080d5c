//! What can be wrong with a GGUF file.
//!
//! Each error names the key or the tensor, what was expected, and what was found. Names are cut to [`MAX_NAME`]
//! characters: a hostile one may be as long as the file.

use std::{fmt, io};

use thiserror::Error;

use crate::blocks::BlockType;

/// Characters of a name that an error repeats.
const MAX_NAME: usize = 96;

/// Why a file is not a GGUF file that can be read.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The file does not start as one.
    #[error("expected a file that starts with `GGUF`, found {found:02x?}")]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// The file's numbers are big endian.
    #[error("expected a little-endian file, found a big-endian one of version {version}")]
    BigEndian {
        /// The version, read as big endian.
        version: u32,
    },
    /// The file has another version of the format.
    #[error("expected GGUF version 2 or 3, found {found}")]
    Version {
        /// The version.
        found: u32,
    },
    /// The file ends within something.
    #[error("{place}: expected {expected} bytes at offset {offset}, found {found}")]
    Truncated {
        /// What was being read.
        place: String,
        /// Where in the file.
        offset: usize,
        /// Bytes that it needs.
        expected: u64,
        /// Bytes that are left.
        found: usize,
    },
    /// A count is larger than what the rest of the file can hold.
    #[error("{place}: expected at most {most} entries in what is left of the file, found a count of {found}")]
    Count {
        /// What was being read.
        place: String,
        /// As many of the smallest entries fit.
        most: u64,
        /// The count.
        found: u64,
    },
    /// A text is not UTF-8.
    #[error("{place}: expected UTF-8, found another byte after the first {valid}")]
    Utf8 {
        /// What was being read.
        place: String,
        /// Bytes that are UTF-8.
        valid: usize,
    },
    /// A value or an array's element has a type that does not exist.
    #[error("key `{key}`: expected a value type from 0 to 12, found {found}")]
    ValueType {
        /// The key.
        key: String,
        /// The type's number.
        found: u32,
    },
    /// A boolean is neither 0 nor 1.
    #[error("key `{key}`: expected a boolean 0 or 1, found {found}")]
    Bool {
        /// The key.
        key: String,
        /// The byte.
        found: u8,
    },
    /// Arrays of arrays go too deep.
    #[error("key `{key}`: expected at most {most} arrays within each other, found more")]
    Depth {
        /// The key.
        key: String,
        /// The limit.
        most: usize,
    },
    /// Two metadata entries have the same key.
    #[error("key `{key}`: expected it once, found it again")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The alignment is not one.
    #[error("key `general.alignment`: expected a power of two of type u32, found {found}")]
    Alignment {
        /// The value or its type.
        found: String,
    },
    /// Two tensors have the same name.
    #[error("tensor `{tensor}`: expected it once, found it again")]
    DuplicateTensor {
        /// The tensor.
        tensor: String,
    },
    /// A tensor has too many dimensions.
    #[error("tensor `{tensor}`: expected at most {most} dimensions, found {found}")]
    Rank {
        /// The tensor.
        tensor: String,
        /// The limit.
        most: usize,
        /// The rank.
        found: u32,
    },
    /// A tensor has more elements than can be counted.
    #[error("tensor `{tensor}`: expected a shape whose elements and bytes can be counted, found {found:?}")]
    Shape {
        /// The tensor.
        tensor: String,
        /// Its dimensions in the order of the file: innermost first.
        found: Vec<u64>,
    },
    /// The rows of a tensor are not whole blocks.
    #[error("tensor `{tensor}`: expected rows of a multiple of {block_len} elements for {ty}, found {found}")]
    Row {
        /// The tensor.
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
        /// The tensor.
        tensor: String,
        /// The file's alignment.
        alignment: usize,
        /// The offset, from the start of the data.
        found: u64,
    },
    /// A tensor goes beyond the end of the file.
    #[error("tensor `{tensor}`: expected {expected} bytes at offset {offset} of the data, found {found} bytes of data")]
    OutOfBounds {
        /// The tensor.
        tensor: String,
        /// Its offset, from the start of the data.
        offset: u64,
        /// Its bytes.
        expected: u64,
        /// Bytes of all data.
        found: usize,
    },
    /// Two tensors share bytes.
    #[error("tensor `{tensor}`: expected an offset from {expected}, where `{other}` ends, found {found}")]
    Overlap {
        /// The tensor that starts later.
        tensor: String,
        /// The one that starts first.
        other: String,
        /// The end of the first.
        expected: usize,
        /// The start of the later.
        found: usize,
    },
    /// The file cannot be read.
    #[error("file `{path}`: expected to read it, found: {message}")]
    Io {
        /// The path.
        path: String,
        /// The kind of the failure.
        kind: io::ErrorKind,
        /// The system's words.
        message: String,
    },
}

/// As `Display` says it: that is what a program prints whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A name for an error: cut where it is too long to be read.
pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
