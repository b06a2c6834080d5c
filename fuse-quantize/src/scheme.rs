//! Quantization options: symmetry, granularity, scale storage and rounding.

/// Options of a tensor's quantization.
///
/// ```
/// use fuse_quantize::{QuantScheme, Rounding};
///
/// let scheme = QuantScheme::asymmetric().per_group(64).rounding(Rounding::LeastSquares);
/// assert_eq!(scheme.axis, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantScheme {
    /// Symmetric codes, or offsets per group.
    pub symmetry: Symmetry,
    /// Values that share a scale.
    pub granularity: Granularity,
    /// Storage of scales and offsets.
    pub scales: ScaleDType,
    /// Choice of scales.
    pub rounding: Rounding,
    /// Packed axis, along which words and groups lie. `None`: the second to last (`K` of `[K, N]`), or the only axis.
    pub axis: Option<usize>,
}

/// Position of zero among the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// The scale determines the offset: `-2^(bits-1)·scale`, with 1 bit `-scale/2`. Zero is a code, except with 1 bit.
    Symmetric,
    /// The offset is free.
    Asymmetric,
}

/// Values that share a scale and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// Whole tensor.
    Tensor,
    /// Packed axis: one pair per remaining index.
    Channel,
    /// This many neighbors along the packed axis: a divisor of its extent that is a multiple of
    /// [`Packing::GROUP_MULTIPLE`](crate::Packing::GROUP_MULTIPLE), or the whole axis.
    Group(usize),
}

/// Storage of scales and offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleDType {
    /// Half precision: one word per pair, the scale in the low 16 bits.
    F16,
    /// Single precision: two words per pair, the scale first.
    F32,
}

/// Choice of scales. Codes are always the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Codes span a group's values without clipping; with 1 bit, levels follow from the mean absolute value.
    Nearest,
    /// Scale (and offset) with the least squared error in a search that includes [`Nearest`](Self::Nearest). May clip
    /// large values.
    LeastSquares,
}

impl QuantScheme {
    /// Symmetric, in groups of 32 with half-precision scales.
    pub const fn symmetric() -> Self {
        Self {
            symmetry: Symmetry::Symmetric,
            granularity: Granularity::Group(32),
            scales: ScaleDType::F16,
            rounding: Rounding::Nearest,
            axis: None,
        }
    }

    /// Asymmetric, in groups of 32 with half-precision scales.
    pub const fn asymmetric() -> Self {
        Self { symmetry: Symmetry::Asymmetric, ..Self::symmetric() }
    }

    /// One scale for the tensor.
    pub const fn per_tensor(self) -> Self {
        Self { granularity: Granularity::Tensor, ..self }
    }

    /// One scale for all values along the packed axis.
    pub const fn per_channel(self) -> Self {
        Self { granularity: Granularity::Channel, ..self }
    }

    /// One scale per `group` neighbors along the packed axis.
    pub const fn per_group(self, group: usize) -> Self {
        Self { granularity: Granularity::Group(group), ..self }
    }

    /// Sets the storage of scales.
    pub const fn scales(self, scales: ScaleDType) -> Self {
        Self { scales, ..self }
    }

    /// Sets the choice of scales.
    pub const fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// Sets the packed axis.
    pub const fn axis(self, axis: usize) -> Self {
        Self { axis: Some(axis), ..self }
    }
}

impl Default for QuantScheme {
    fn default() -> Self {
        Self::symmetric()
    }
}

impl ScaleDType {
    /// Words per pair of scale and offset.
    pub const fn pair_words(self) -> usize {
        match self {
            Self::F16 => 1,
            Self::F32 => 2,
        }
    }

    /// Name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }

    pub(crate) fn largest(self) -> f32 {
        match self {
            Self::F16 => half::f16::MAX.to_f32(),
            Self::F32 => f32::MAX,
        }
    }
}
