//! The GGUF container, versions 2 and 3, little endian: a view of bytes.
//!
//! [`Gguf`] borrows metadata and tensors. Sources: llama.cpp's description of GGUF and its reader
//! (`gguf_init_from_file`).
//!
//! Files are untrusted. [`Gguf::parse`] walks the header once, in linear time, and checks every tensor's place, so
//! later access cannot fail. Memory grows with the file's content, not with the counts that it claims.
//!
//! ```
//! use fuse_formats::gguf::Gguf;
//!
//! // A file of version 3 without tensors, with one metadata entry: the byte 7.
//! let mut bytes = b"GGUF\x03\0\0\0".to_vec();
//! bytes.extend(0u64.to_le_bytes());
//! bytes.extend(1u64.to_le_bytes());
//! bytes.extend(3u64.to_le_bytes());
//! bytes.extend(b"key\0\0\0\0\x07");
//! let file = Gguf::parse(&bytes)?;
//! assert_eq!(file.get("key").and_then(|value| value.as_u64()), Some(7));
//! for tensor in file.tensors() {
//!     println!("{}: {:?} of {}", tensor.name(), tensor.shape(), tensor.block_type());
//! }
//! # Ok::<(), fuse_formats::gguf::Error>(())
//! ```

mod cursor;
mod error;
mod tensor;
mod value;

use std::collections::{BTreeMap, btree_map::Entry};

use cursor::{Cursor, Place};
pub use error::Error;
pub(crate) use error::short;
pub use tensor::{MAX_RANK, Tensor, UnknownTensor};
pub use value::{Array, MAX_DEPTH, Value, ValueType, Values};

/// Smallest metadata entry: the length of an empty key, a type, one byte.
const MIN_ENTRY: u64 = 8 + 4 + 1;

/// Smallest tensor description: the length of an empty name, a rank of 0, a type, an offset.
const MIN_TENSOR: u64 = 8 + 4 + 4 + 8;

/// Alignment of files without [`ALIGNMENT`].
const DEFAULT_ALIGNMENT: usize = 32;

const ALIGNMENT: &str = "general.alignment";

/// A GGUF file with metadata and tensors, borrowed from the file's bytes.
#[derive(Clone, Debug)]
pub struct Gguf<'a> {
    version: u32,
    alignment: usize,
    metadata: BTreeMap<&'a str, Value<'a>>,
    tensors: Vec<Tensor<'a>>,
    unknown: Vec<UnknownTensor<'a>>,
    names: BTreeMap<&'a str, usize>,
}

impl<'a> Gguf<'a> {
    /// Parses and checks the header of a file in memory.
    ///
    /// Gaps between tensors are ignored; overlaps are errors. Tensors of unknown type are listed separately
    /// ([`Gguf::unknown_tensors`]).
    ///
    /// # Errors
    /// Any [`Error`] except [`Error::Io`]: the file's first fault, in byte order, then the first among the tensors'
    /// places.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut cursor = Cursor::new(bytes);
        let magic = *cursor.array(Place::Header)?;
        if magic != *b"GGUF" {
            return Err(Error::Magic { found: magic });
        }
        let version = cursor.u32(Place::Header)?;
        match (version, version.swap_bytes()) {
            (2 | 3, _) => {}
            // The low half of a version below 65536 is 0 only in the wrong byte order.
            (_, version @ 1..=0xffff) => return Err(Error::BigEndian { version }),
            _ => return Err(Error::Version { found: version }),
        }
        let tensor_count = cursor.u64(Place::Header)?;
        let entry_count = cursor.u64(Place::Header)?;
        let metadata = metadata(&mut cursor, entry_count)?;
        let alignment = alignment(metadata.get(ALIGNMENT))?;
        let (descriptions, unknown) = tensor::descriptions(&mut cursor, tensor_count)?;
        // A file without tensors may end before its data would start.
        let start = cursor.position().checked_next_multiple_of(alignment);
        let data = start.and_then(|start| bytes.get(start..)).unwrap_or(&[]);
        let tensors = tensor::place(descriptions, data, alignment)?;
        let names = tensors.iter().enumerate().map(|(i, tensor)| (tensor.name(), i)).collect();
        Ok(Self { version, alignment, metadata, tensors, unknown, names })
    }

    /// Format version: 2 or 3.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Divisor of all tensor offsets: a power of two.
    pub fn alignment(&self) -> usize {
        self.alignment
    }

    /// Metadata, ordered by key.
    pub fn metadata(&self) -> impl ExactSizeIterator<Item = (&'a str, &Value<'a>)> {
        self.metadata.iter().map(|(&key, value)| (key, value))
    }

    /// Value of a metadata key.
    pub fn get(&self, key: &str) -> Option<&Value<'a>> {
        self.metadata.get(key)
    }

    /// Tensors of known types, in file order.
    pub fn tensors(&self) -> &[Tensor<'a>] {
        &self.tensors
    }

    /// Tensors of unknown types, in file order. Their places are not checked.
    pub fn unknown_tensors(&self) -> &[UnknownTensor<'a>] {
        &self.unknown
    }

    /// Tensor of this name, if its type is known.
    pub fn tensor(&self, name: &str) -> Option<&Tensor<'a>> {
        self.names.get(name).and_then(|&i| self.tensors.get(i))
    }
}

/// Reads a whole file into memory, parses it, and returns the result of `read`.
///
/// Map models larger than the memory, and pass them to [`Gguf::parse`].
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, else as [`Gguf::parse`].
#[cfg(not(target_arch = "wasm32"))]
pub fn open<R>(path: impl AsRef<std::path::Path>, read: impl FnOnce(&Gguf<'_>) -> R) -> Result<R, Error> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|error| Error::Io {
        path: path.display().to_string(),
        kind: error.kind(),
        message: error.to_string(),
    })?;
    Ok(read(&Gguf::parse(&bytes)?))
}

fn metadata<'a>(cursor: &mut Cursor<'a>, count: u64) -> Result<BTreeMap<&'a str, Value<'a>>, Error> {
    cursor.check_count(Place::Metadata, count, MIN_ENTRY)?;
    let mut metadata = BTreeMap::new();
    for index in 0..count {
        let key = cursor.string(Place::Key(index))?;
        let place = Place::Value(key);
        let id = cursor.u32(place)?;
        let ty = ValueType::from_id(id).ok_or_else(|| Error::ValueType { key: error::short(key), found: id })?;
        let value = value::read(cursor, ty, key, 0)?;
        match metadata.entry(key) {
            Entry::Vacant(entry) => entry.insert(value),
            Entry::Occupied(_) => return Err(Error::DuplicateKey { key: error::short(key) }),
        };
    }
    Ok(metadata)
}

fn alignment(value: Option<&Value<'_>>) -> Result<usize, Error> {
    match value {
        None => Ok(DEFAULT_ALIGNMENT),
        Some(&Value::U32(alignment)) if alignment.is_power_of_two() => {
            usize::try_from(alignment).map_err(|_| Error::Alignment { found: alignment.to_string() })
        }
        Some(Value::U32(other)) => Err(Error::Alignment { found: other.to_string() }),
        Some(other) => Err(Error::Alignment { found: format!("a value of type {}", other.value_type()) }),
    }
}
