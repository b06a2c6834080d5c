//! What a program asks for: how values become codes, which values share a scale, and how scales are stored.

/// How a tensor is quantized.
///
/// ```
/// use fuse_quantize::{QuantScheme, Rounding};
///
/// let scheme = QuantScheme::asymmetric().per_group(64).rounding(Rounding::LeastSquares);
/// assert_eq!(scheme.axis, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantScheme {
    /// Whether zero lies in the middle of the codes, or groups have offsets of their own.
    pub symmetry: Symmetry,
    /// Which values share a scale.
    pub granularity: Granularity,
    /// How scales and offsets are stored.
    pub scales: ScaleDType,
    /// How scales are chosen.
    pub rounding: Rounding,
    /// The packed axis, along which values lie in words and groups. `None` is the last but one, the `K` of `[K, N]`; with
    /// one axis only, that one.
    pub axis: Option<usize>,
}

/// Whether zero lies in the middle of the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// The offset follows from the scale: `-2^(bits-1)·scale`, with 1 bit `-scale/2`. Zero is a code, except with 1 bit.
    Symmetric,
    /// The offset is free.
    Asymmetric,
}

/// Which values share a scale and an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// All of the tensor.
    Tensor,
    /// All along the packed axis: one pair for each remaining index.
    Channel,
    /// So many neighbours along the packed axis: a divisor of its extent that is a multiple of
    /// [`Packing::GROUP_MULTIPLE`](crate::Packing::GROUP_MULTIPLE), or the whole axis.
    Group(usize),
}

/// How scales and offsets are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScaleDType {
    /// Half precision: a pair takes one word, the scale in the low 16 bits.
    F16,
    /// Single precision: a pair takes two words, the scale first.
    F32,
}

/// How scales are chosen. Codes are always the nearest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// The codes span a group's values, so that none is clipped. With 1 bit, a group's mean absolute value.
    Nearest,
    /// The scale (and offset) with the least squared error among those that a search tries, that of
    /// [`Nearest`](Self::Nearest) included: large values may be clipped where that pays.
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

    /// With one scale for the tensor.
    pub const fn per_tensor(self) -> Self {
        Self { granularity: Granularity::Tensor, ..self }
    }

    /// With one scale for all values along the packed axis.
    pub const fn per_channel(self) -> Self {
        Self { granularity: Granularity::Channel, ..self }
    }

    /// With a scale for each `group` neighbours along the packed axis.
    pub const fn per_group(self, group: usize) -> Self {
        Self { granularity: Granularity::Group(group), ..self }
    }

    /// With scales stored like this.
    pub const fn scales(self, scales: ScaleDType) -> Self {
        Self { scales, ..self }
    }

    /// With scales chosen like this.
    pub const fn rounding(self, rounding: Rounding) -> Self {
        Self { rounding, ..self }
    }

    /// With this axis packed.
    pub const fn axis(self, axis: usize) -> Self {
        Self { axis: Some(axis), ..self }
    }
}

impl Default for QuantScheme {
    /// [`QuantScheme::symmetric`].
    fn default() -> Self {
        Self::symmetric()
    }
}

impl ScaleDType {
    /// Words that a pair of scale and offset takes.
    pub const fn pair_words(self) -> usize {
        match self {
            Self::F16 => 1,
            Self::F32 => 2,
        }
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
        }
    }

    /// The largest number.
    pub(crate) fn largest(self) -> f32 {
        match self {
            Self::F16 => half::f16::MAX.to_f32(),
            Self::F32 => f32::MAX,
        }
    }
}
