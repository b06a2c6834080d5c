//! Metadata values of a GGUF file: numbers, booleans, strings, and nested arrays of them.
//!
//! Arrays stay bytes, checked once and decoded during iteration. Source of type numbers: llama.cpp, `enum gguf_type`.

use std::fmt;

use super::{
    cursor::{Cursor, Place},
    error::{Error, short},
};

/// Maximum nesting of arrays: each level costs a file 12 bytes and a reader a stack frame.
pub const MAX_DEPTH: usize = 16;

/// Type of a metadata value or of array elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// 8 bits, unsigned.
    U8,
    /// 8 bits, signed.
    I8,
    /// 16 bits, unsigned.
    U16,
    /// 16 bits, signed.
    I16,
    /// 32 bits, unsigned.
    U32,
    /// 32 bits, signed.
    I32,
    /// 32 bits, floating point.
    F32,
    /// One byte, 0 or 1.
    Bool,
    /// A UTF-8 string.
    String,
    /// An array.
    Array,
    /// 64 bits, unsigned.
    U64,
    /// 64 bits, signed.
    I64,
    /// 64 bits, floating point.
    F64,
}

impl ValueType {
    /// Types by number, with names and minimum bytes (strings and arrays are longer).
    const ROWS: [(Self, &'static str, u64); 13] = [
        (Self::U8, "u8", 1),
        (Self::I8, "i8", 1),
        (Self::U16, "u16", 2),
        (Self::I16, "i16", 2),
        (Self::U32, "u32", 4),
        (Self::I32, "i32", 4),
        (Self::F32, "f32", 4),
        (Self::Bool, "bool", 1),
        (Self::String, "string", 8),
        (Self::Array, "array", 12),
        (Self::U64, "u64", 8),
        (Self::I64, "i64", 8),
        (Self::F64, "f64", 8),
    ];

    /// Type of a number in a file.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ROWS.get(usize::try_from(id).ok()?).map(|row| row.0)
    }

    fn min_bytes(self) -> u64 {
        Self::ROWS[self as usize].2
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ROWS[*self as usize].1)
    }
}

/// A metadata value of one of the [`ValueType`]s.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the variants are those of `ValueType`")]
pub enum Value<'a> {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    String(&'a str),
    Array(Array<'a>),
    U64(u64),
    I64(i64),
    F64(f64),
}

impl<'a> Value<'a> {
    /// Type of the value.
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::Array(_) => ValueType::Array,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }

    /// Value of a non-negative integer of any type: writers use different types for sizes.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::U64(value) => Some(value),
            _ => self.as_i64().and_then(|value| u64::try_from(value).ok()),
        }
    }

    /// Value of an integer of any type below 2⁶³.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::I8(value) => Some(value.into()),
            Self::I16(value) => Some(value.into()),
            Self::I32(value) => Some(value.into()),
            Self::I64(value) => Some(value),
            Self::U8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::U64(value) => i64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Value of a floating-point number of either type.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F32(value) => Some(value.into()),
            Self::F64(value) => Some(value),
            _ => None,
        }
    }

    /// Boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Self::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Text.
    pub fn as_str(&self) -> Option<&'a str> {
        match *self {
            Self::String(value) => Some(value),
            _ => None,
        }
    }

    /// Array.
    pub fn as_array(&self) -> Option<&Array<'a>> {
        match self {
            Self::Array(value) => Some(value),
            _ => None,
        }
    }
}

/// Values of one type. Nested arrays may have different element types.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<'a> {
    element: ValueType,
    len: u64,
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    /// Type of the elements.
    pub fn element_type(&self) -> ValueType {
        self.element
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        // Each element takes at least a byte, so the number fits.
        self.len as usize
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Encoded elements: little endian, without gaps.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Elements in order.
    pub fn iter(&self) -> Values<'a> {
        Values { element: self.element, left: self.len, cursor: Cursor::new(self.bytes) }
    }
}

impl<'a> IntoIterator for &Array<'a> {
    type Item = Value<'a>;
    type IntoIter = Values<'a>;

    fn into_iter(self) -> Values<'a> {
        self.iter()
    }
}

/// Iterator over the elements of an [`Array`].
#[derive(Clone, Debug)]
pub struct Values<'a> {
    element: ValueType,
    left: u64,
    cursor: Cursor<'a>,
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        // Never fails: parsing checked the array. Depth counts from it.
        read(&mut self.cursor, self.element, "", 0).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// Reads a value; `depth` counts the enclosing arrays.
pub(super) fn read<'a>(cursor: &mut Cursor<'a>, ty: ValueType, key: &str, depth: usize) -> Result<Value<'a>, Error> {
    let place = Place::Value(key);
    Ok(match ty {
        ValueType::U8 => Value::U8(u8::from_le_bytes(*cursor.array(place)?)),
        ValueType::I8 => Value::I8(i8::from_le_bytes(*cursor.array(place)?)),
        ValueType::U16 => Value::U16(u16::from_le_bytes(*cursor.array(place)?)),
        ValueType::I16 => Value::I16(i16::from_le_bytes(*cursor.array(place)?)),
        ValueType::U32 => Value::U32(cursor.u32(place)?),
        ValueType::I32 => Value::I32(i32::from_le_bytes(*cursor.array(place)?)),
        ValueType::F32 => Value::F32(f32::from_le_bytes(*cursor.array(place)?)),
        ValueType::U64 => Value::U64(cursor.u64(place)?),
        ValueType::I64 => Value::I64(i64::from_le_bytes(*cursor.array(place)?)),
        ValueType::F64 => Value::F64(f64::from_le_bytes(*cursor.array(place)?)),
        ValueType::Bool => match cursor.array(place)? {
            [0] => Value::Bool(false),
            [1] => Value::Bool(true),
            [found] => return Err(Error::Bool { key: short(key), found: *found }),
        },
        ValueType::String => Value::String(cursor.string(place)?),
        ValueType::Array => Value::Array(read_array(cursor, key, depth)?),
    })
}

fn read_array<'a>(cursor: &mut Cursor<'a>, key: &str, depth: usize) -> Result<Array<'a>, Error> {
    if depth == MAX_DEPTH {
        return Err(Error::Depth { key: short(key), most: MAX_DEPTH });
    }
    let place = Place::Value(key);
    let id = cursor.u32(place)?;
    let element = ValueType::from_id(id).ok_or_else(|| Error::ValueType { key: short(key), found: id })?;
    let len = cursor.u64(place)?;
    cursor.check_count(place, len, element.min_bytes())?;
    let start = cursor.position();
    match element {
        ValueType::Bool | ValueType::String | ValueType::Array => {
            for _ in 0..len {
                read(cursor, element, key, depth + 1)?;
            }
        }
        // Any bytes are numbers. The count was checked, so nothing overflows.
        _ => {
            cursor.take(len * element.min_bytes(), place)?;
        }
    }
    Ok(Array { element, len, bytes: cursor.since(start) })
}
