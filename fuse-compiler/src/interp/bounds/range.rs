//! Ranges of numbers, and their widening by stores, comparisons and conversions.

use fuse_artifact::DType;
use half::f16;

use crate::{graph::CompareOp, interp::Element};

/// Numbers from `low` to `high` (none if `low > high`), and NaN if `nan`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
    /// True if NaN is possible.
    pub nan: bool,
}

impl Range {
    /// Neutral element of [`Range::union`].
    pub const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: false };
    /// All numbers and NaN.
    pub const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

    /// Only NaN.
    pub const NAN: Self = Self { nan: true, ..Self::EMPTY };

    /// One number, or NaN.
    pub fn point(x: f64) -> Self {
        if x.is_nan() { Self::NAN } else { Self { low: x, high: x, nan: false } }
    }

    /// Numbers from `low` to `high`.
    pub fn between(low: f64, high: f64) -> Self {
        Self { low, high, nan: false }
    }

    /// True if `x` is in range.
    pub fn contains(&self, x: f64) -> bool {
        if x.is_nan() { self.nan } else { self.low <= x && x <= self.high }
    }

    /// True for a single number.
    pub fn is_point(&self) -> bool {
        self.low == self.high && !self.nan
    }

    /// True unless empty or only NaN.
    pub fn has_numbers(&self) -> bool {
        self.low <= self.high
    }

    /// Smallest range that contains both.
    pub fn union(self, other: Self) -> Self {
        Self { low: least(self.low, other.low), high: greatest(self.high, other.high), nan: self.nan || other.nan }
    }

    /// Negated numbers.
    pub fn negated(&self) -> Self {
        Self { low: -self.high, high: -self.low, nan: self.nan }
    }

    /// Operand in `f32`.
    ///
    /// A subnormal may be read as zero or as anything up to the smallest normal number; some drivers take it for a
    /// normal number of the same bits.
    pub fn read(self) -> Self {
        let normal = f64::from(f32::MIN_POSITIVE);
        let subnormal = |x: f64| x != 0.0 && x.abs() < normal;
        let mut range = self.flushed();
        if subnormal(self.low) && self.low < 0.0 {
            range.low = -normal;
        }
        if subnormal(self.high) && self.high > 0.0 {
            range.high = normal;
        }
        range
    }

    /// Adds zero if an end is subnormal in `f32` and may be flushed.
    pub fn flushed(self) -> Self {
        self.flushed_below(f64::from(f32::MIN_POSITIVE))
    }

    fn flushed_below(mut self, normal: f64) -> Self {
        if self.low > 0.0 && self.low < normal {
            self.low = 0.0;
        }
        if self.high < 0.0 && self.high > -normal {
            self.high = -0.0;
        }
        self
    }

    /// Outcome in `f32`: may overflow or be flushed, and a zero has either sign.
    pub fn computed(mut self) -> Self {
        let largest = f64::from(f32::MAX);
        if self.high > largest {
            self.high = f64::INFINITY;
            // An infinity without overflow stays exact.
            self.low = if self.low.is_finite() { self.low.min(largest) } else { self.low };
        }
        if self.low < -largest {
            self.low = f64::NEG_INFINITY;
            self.high = if self.high.is_finite() { self.high.max(-largest) } else { self.high };
        }
        self = self.flushed();
        if self.low == 0.0 && self.high == 0.0 {
            self.low = -0.0;
            self.high = 0.0;
        }
        self
    }

    /// Read back from a buffer of `dtype`, rounded in either direction.
    pub fn stored(self, dtype: DType) -> Self {
        let normal = match dtype {
            DType::F32 => f64::from(f32::MIN_POSITIVE),
            DType::F16 => f16::MIN_POSITIVE.to_f64(),
            DType::I32 | DType::U32 | DType::Bool => return self,
        };
        if !self.has_numbers() {
            return self;
        }
        Self { low: round_down(dtype, self.low), high: round_up(dtype, self.high), nan: self.nan }.flushed_below(normal)
    }
}

/// `f64::min`, with -0.0 less than 0.0.
fn least(x: f64, y: f64) -> f64 {
    if x.total_cmp(&y).is_le() { x } else { y }
}

/// `f64::max`, with -0.0 less than 0.0.
fn greatest(x: f64, y: f64) -> f64 {
    if x.total_cmp(&y).is_ge() { x } else { y }
}

/// Largest float that is at most `x`.
pub(super) fn round_down(dtype: DType, x: f64) -> f64 {
    let nearest = f64::stored(dtype, &x);
    if nearest <= x {
        return nearest;
    }
    match dtype {
        DType::F16 => f16_below(f16::from_f64(x)).to_f64(),
        _ => f64::from((x as f32).next_down()),
    }
}

/// Smallest float that is at least `x`.
pub(super) fn round_up(dtype: DType, x: f64) -> f64 {
    -round_down(dtype, -x)
}

fn f16_below(x: f16) -> f16 {
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff;
    f16::from_bits(match (bits >> 15, magnitude) {
        (_, 0) => 0x8001,
        (0, _) => bits - 1,
        _ => bits + 1,
    })
}

pub(super) fn compare(op: CompareOp, x: Range, y: Range) -> Range {
    let mut may_be = [false; 2];
    if x.nan || y.nan {
        may_be[usize::from(op == CompareOp::Ne)] = true;
    }
    if x.has_numbers() && y.has_numbers() {
        let (below, above) = (x.low < y.high, x.high > y.low);
        let meet = x.low <= y.high && y.low <= x.high;
        let [less, equal, greater] = match op {
            CompareOp::Eq => [false, true, false],
            CompareOp::Ne => [true, false, true],
            CompareOp::Lt => [true, false, false],
            CompareOp::Le => [true, true, false],
            CompareOp::Gt => [false, false, true],
            CompareOp::Ge => [false, true, true],
        };
        for (possible, truth) in [(below, less), (meet, equal), (above, greater)] {
            may_be[usize::from(truth)] |= possible;
        }
    }
    Range::between(if may_be[0] { 0.0 } else { 1.0 }, if may_be[1] { 1.0 } else { 0.0 })
}

/// Monotone between numbers, except where integers wrap.
pub(super) fn cast(from: DType, to: DType, x: Range) -> Range {
    match to {
        DType::F32 | DType::F16 => x.stored(to),
        DType::Bool => compare(CompareOp::Ne, x, Range::point(0.0)),
        DType::I32 | DType::U32 => {
            let zero = if x.nan { Range::point(0.0) } else { Range::EMPTY };
            if !x.has_numbers() {
                return zero;
            }
            let convert = |x| f64::cast(from, to, &x);
            let (low, high) = (convert(x.low), convert(x.high));
            let wraps = !from.is_float() && high - low != x.high - x.low;
            zero.union(if wraps { everything(to) } else { Range::between(low, high) })
        }
    }
}

pub(super) fn everything(dtype: DType) -> Range {
    match dtype {
        DType::I32 => Range::between(i32::MIN.into(), i32::MAX.into()),
        DType::U32 => Range::between(0.0, u32::MAX.into()),
        _ => Range::between(0.0, 1.0),
    }
}
