//! Bounds-checked cursor over a file's bytes: little-endian numbers and borrowed strings.

use std::fmt;

use super::error::{Error, short};

/// Element being read, formatted only in errors.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Magic, version and counts.
    Header,
    Metadata,
    /// Key of a metadata entry, by index.
    Key(u64),
    Value(&'a str),
    Tensors,
    /// Name of a tensor, by index.
    TensorName(u64),
    /// Rest of a tensor's description.
    Tensor(&'a str),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("header"),
            Self::Metadata => f.write_str("metadata"),
            Self::Key(index) => write!(f, "key of metadata entry {index}"),
            Self::Value(key) => write!(f, "key `{}`", short(key)),
            Self::Tensors => f.write_str("tensors"),
            Self::TensorName(index) => write!(f, "name of tensor {index}"),
            Self::Tensor(name) => write!(f, "tensor `{}`", short(name)),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or(&[])
    }

    pub(super) fn take(&mut self, count: u64, place: Place<'_>) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let taken = usize::try_from(count).ok().and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| self.truncated(count, place))?;
        self.at += taken.len();
        Ok(taken)
    }

    pub(super) fn array<const N: usize>(&mut self, place: Place<'_>) -> Result<&'a [u8; N], Error> {
        let taken = self.rest().first_chunk().ok_or_else(|| self.truncated(N as u64, place))?;
        self.at += N;
        Ok(taken)
    }

    pub(super) fn u32(&mut self, place: Place<'_>) -> Result<u32, Error> {
        self.array(place).map(|bytes| u32::from_le_bytes(*bytes))
    }

    pub(super) fn u64(&mut self, place: Place<'_>) -> Result<u64, Error> {
        self.array(place).map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub(super) fn string(&mut self, place: Place<'_>) -> Result<&'a str, Error> {
        let length = self.u64(place)?;
        let bytes = self.take(length, place)?;
        std::str::from_utf8(bytes).map_err(|error| Error::Utf8 { place: place.to_string(), valid: error.valid_up_to() })
    }

    /// Rejects a count of entries of at least `min_bytes` each that exceeds the rest of the file.
    pub(super) fn check_count(&self, place: Place<'_>, count: u64, min_bytes: u64) -> Result<(), Error> {
        let most = self.rest().len() as u64 / min_bytes.max(1);
        if count <= most { Ok(()) } else { Err(Error::Count { place: place.to_string(), most, found: count }) }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn truncated(&self, expected: u64, place: Place<'_>) -> Error {
        Error::Truncated { place: place.to_string(), offset: self.at, expected, found: self.rest().len() }
    }
}
