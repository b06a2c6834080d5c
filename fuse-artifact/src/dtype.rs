use std::fmt;

/// Element type of a tensor or a host scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary16. Kernels compute in `f32` and round on stores.
    F16,
    /// Two's complement 32-bit integer; arithmetic wraps.
    I32,
    /// Unsigned 32-bit integer; arithmetic wraps.
    U32,
    /// Boolean, stored as a `u32` of 0 or 1.
    Bool,
}

impl DType {
    /// Name in `fuse!` and in messages, such as `f32`.
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

    /// True for `f32` and `f16`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16)
    }

    /// True for `i32` and `u32`.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::I32 | Self::U32)
    }

    /// True if rounding to this float dtype keeps a finite number finite and a nonzero one nonzero.
    pub fn keeps(self, number: f64) -> bool {
        // Least magnitude that rounds to infinity and largest that rounds to 0: ties round to even.
        let [infinite, zero] = match self {
            Self::F16 => [65_520.0, f64::exp2(-25.0)],
            _ => [f64::from(f32::MAX) + f64::exp2(103.0), f64::exp2(-150.0)],
        };
        let magnitude = number.abs();
        number == 0.0 || !number.is_finite() || (zero < magnitude && magnitude < infinite)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DTypes(u8);

impl DTypes {
    /// `f32`.
    pub const F32: Self = Self(1 << DType::F32 as u8);
    /// `u32`.
    pub const U32: Self = Self(1 << DType::U32 as u8);
    /// `bool`.
    pub const BOOL: Self = Self(1 << DType::Bool as u8);
    /// `f32` and `f16`.
    pub const FLOATS: Self = Self(Self::F32.0 | 1 << DType::F16 as u8);
    /// `i32` and `u32`.
    pub const INTEGERS: Self = Self(Self::U32.0 | 1 << DType::I32 as u8);
    /// All but `bool`.
    pub const NUMBERS: Self = Self(Self::FLOATS.0 | Self::INTEGERS.0);
    /// All but `bool` and `u32`.
    pub const SIGNED: Self = Self(Self::NUMBERS.0 & !Self::U32.0);
    /// `i32`, `u32` and `bool`.
    pub const BITS: Self = Self(Self::INTEGERS.0 | Self::BOOL.0);
    /// All.
    pub const ANY: Self = Self(Self::NUMBERS.0 | Self::BOOL.0);

    /// Only dtype of a singleton set.
    pub fn only(self) -> Option<DType> {
        let all = [DType::F32, DType::F16, DType::I32, DType::U32, DType::Bool];
        all.into_iter().find(|dtype| self.0 == 1 << *dtype as u8)
    }

    /// True if `dtype` is in the set.
    pub const fn contains(self, dtype: DType) -> bool {
        self.0 >> dtype as u8 & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_what_they_do_not_round_to_0_or_infinity() {
        for number in
            [65504.0, 65519.9, 65520.0, 6e-8, 2.99e-8, 2.98e-8, 3.4e38, 3.41e38, 1.5e-45, 7.1e-46, 7e-46, 1e-300]
        {
            let f32 = number as f32;
            assert_eq!(DType::F32.keeps(number), f32.is_finite() && f32 != 0.0, "{number}");
            assert_eq!(DType::F16.keeps(-number), (2.980_232_3e-8..65520.0).contains(&number), "{number}");
        }
        for number in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(DType::F32.keeps(number) && DType::F16.keeps(number), "{number}");
        }
    }
}
