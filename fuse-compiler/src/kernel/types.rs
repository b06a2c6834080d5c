//! Types of kernel values.

use fuse_artifact::DType;

use super::Role;

/// A scalar type of WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// `i32`.
    I32,
    /// `u32`.
    U32,
    /// `f32`.
    F32,
    /// `f16`, only in storage and in cooperative matrices: kernels compute in `f32`.
    F16,
}

impl Scalar {
    /// The type of `dtype` in kernels.
    pub const fn of(dtype: DType) -> Self {
        match dtype {
            DType::F32 | DType::F16 => Self::F32,
            DType::I32 => Self::I32,
            DType::U32 => Self::U32,
            DType::Bool => Self::Bool,
        }
    }

    /// The type of `dtype` in buffers.
    pub const fn stored(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self::F16,
            DType::Bool => Self::U32,
            other => Self::of(other),
        }
    }

    /// The name in WGSL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::F32 => "f32",
            Self::F16 => "f16",
        }
    }
}

/// A value's type. Compound types are indices into an [`Arena`](super::Arena).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// No value: a function without result.
    Void,
    /// A scalar, or a vector of two to four.
    Vector {
        /// Type of the components.
        scalar: Scalar,
        /// Number of components; 1 for a scalar.
        lanes: u32,
    },
    /// An atomic integer in workgroup memory.
    Atomic(Scalar),
    /// A cooperative matrix.
    Matrix {
        /// Rows and columns.
        size: u32,
        /// The elements' type.
        scalar: Scalar,
        /// The operand in a product.
        role: Role,
    },
    /// A structure, array or pointer in the arena.
    Compound(u16),
    /// Mismatched operands, which the verifier reports.
    Unknown,
}

impl Ty {
    /// `bool`.
    pub const BOOL: Self = Self::vector(Scalar::Bool, 1);
    /// `u32`.
    pub const U32: Self = Self::vector(Scalar::U32, 1);
    /// `f32`.
    pub const F32: Self = Self::vector(Scalar::F32, 1);

    /// A vector of `lanes` scalars, or one scalar.
    pub const fn vector(scalar: Scalar, lanes: u32) -> Self {
        Self::Vector { scalar, lanes }
    }

    /// The kernel type of `lanes` values of `dtype`.
    pub const fn of(dtype: DType, lanes: u32) -> Self {
        Self::vector(Scalar::of(dtype), lanes)
    }

    /// The buffer type of `lanes` elements of `dtype`.
    pub const fn stored(dtype: DType, lanes: u32) -> Self {
        Self::vector(Scalar::stored(dtype), lanes)
    }

    /// Component type of a scalar, vector or atomic.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Vector { scalar, .. } | Self::Atomic(scalar) => Some(scalar),
            Self::Void | Self::Matrix { .. } | Self::Compound(_) | Self::Unknown => None,
        }
    }

    /// Number of components: 1 unless a vector.
    pub const fn lanes(self) -> u32 {
        match self {
            Self::Vector { lanes, .. } => lanes,
            _ => 1,
        }
    }

    /// This type with another scalar.
    pub const fn with(self, scalar: Scalar) -> Self {
        match self {
            Self::Vector { lanes, .. } => Self::Vector { scalar, lanes },
            other => other,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Compound {
    /// Fields in order.
    Struct { name: String, fields: Vec<(String, Ty)> },
    /// `array<element, count>`, or of a buffer's length.
    Array { element: Ty, count: Option<u32> },
    /// `ptr<function, T>`.
    Pointer { to: Ty },
}
