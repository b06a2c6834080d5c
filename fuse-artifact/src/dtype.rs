use std::fmt;

/// The element type of a tensor or of a host scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16. Kernels compute in `f32` and round when they store.
    F16,
    /// Two's complement 32-bit integer; arithmetic wraps.
    I32,
    /// Unsigned 32-bit integer; arithmetic wraps.
    U32,
    /// A truth value, stored as a `u32` that is 0 or 1.
    Bool,
}

impl DType {
    /// The name used in `fuse!` and in messages, for example `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::Bool => "bool",
        }
    }

    /// Bytes of one element in a storage buffer.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 | Self::Bool => 4,
        }
    }

    /// Whether this is `f32` or `f16`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16)
    }

    /// Whether this is `i32` or `u32`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::U32)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
