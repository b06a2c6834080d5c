//! Scale and offset of a group: rounding to storage, and the codes of values.
//!
//! Comparisons and single roundings define them, so that devices computing in `f32` agree.

use half::f16;

use crate::ScaleDType;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pair {
    pub(crate) scale: f32,
    pub(crate) offset: f32,
}

impl Pair {
    pub(crate) fn value(self, code: u32) -> f32 {
        code as f32 * self.scale + self.offset
    }

    /// Largest `q` with `(q - 1/2)·scale <= x - offset`, clamped to `0..=largest`. A negative scale flips the signs of
    /// scale and difference. Scale 0 gives code 0.
    pub(crate) fn code(self, x: f32, largest: u32) -> u32 {
        let (scale, above) =
            if self.scale < 0.0 { (-self.scale, self.offset - x) } else { (self.scale, x - self.offset) };
        if scale == 0.0 {
            return 0;
        }
        // The start is arbitrary: the comparisons decide. Casts saturate, and NaN becomes 0.
        let mut code = ((above / scale + 0.5) as u32).min(largest);
        while code < largest && (code as f32 + 0.5) * scale <= above {
            code += 1;
        }
        while code > 0 && (code as f32 - 0.5) * scale > above {
            code -= 1;
        }
        code
    }

    pub(crate) fn store(self, dtype: ScaleDType, words: &mut [u32]) {
        match (dtype, words) {
            (ScaleDType::F16, [word]) => {
                let [scale, offset] = [self.scale, self.offset].map(|x| u32::from(f16::from_f32(x).to_bits()));
                *word = scale | offset << 16;
            }
            (ScaleDType::F32, [scale, offset]) => {
                [*scale, *offset] = [self.scale.to_bits(), self.offset.to_bits()];
            }
            _ => {}
        }
    }

    pub(crate) fn load(dtype: ScaleDType, words: &[u32]) -> Self {
        match (dtype, words) {
            (ScaleDType::F16, &[word]) => {
                let half = |bits: u32| f16::from_bits(bits as u16).to_f32();
                Self { scale: half(word), offset: half(word >> 16) }
            }
            (ScaleDType::F32, &[scale, offset]) => {
                Self { scale: f32::from_bits(scale), offset: f32::from_bits(offset) }
            }
            _ => Self::default(),
        }
    }
}

impl ScaleDType {
    /// Nearest stored number, ties to even; infinite if `x` is too large.
    pub(crate) fn nearest(self, x: f32) -> f32 {
        match self {
            Self::F16 => f16::from_f32(x).to_f32(),
            Self::F32 => x,
        }
    }

    /// Smallest stored number not below `x`; infinite if there is none.
    pub(crate) fn up(self, x: f32) -> f32 {
        let near = self.nearest(x);
        if near >= x || self == Self::F32 {
            return near;
        }
        // Below `x`: the next `f16`. Bits count upwards above zero and downwards below.
        let bits = f16::from_f32(x).to_bits();
        let next = match bits {
            0x8000 => 0x0001,
            _ if bits & 0x8000 == 0 => bits + 1,
            _ => bits - 1,
        };
        f16::from_bits(next).to_f32()
    }

    /// Largest stored number not above `x`; infinite if there is none.
    pub(crate) fn down(self, x: f32) -> f32 {
        -self.up(-x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_next_to_a_number() {
        let narrow = ScaleDType::F16;
        let tiny = 2f32.powi(-24);
        for (x, down, up) in [
            (1.0, 1.0, 1.0),
            (1.0001, 1.0, 1.0 + 2f32.powi(-10)),
            (-1.0001, -1.0 - 2f32.powi(-10), -1.0),
            (1e-9, 0.0, tiny),
            (-1e-9, -tiny, 0.0),
            (0.0, 0.0, 0.0),
            (65504.5, 65504.0, f32::INFINITY),
            (-1e9, f32::NEG_INFINITY, -65504.0),
        ] {
            assert_eq!((narrow.down(x), narrow.up(x)), (down, up), "{x}");
        }
        assert_eq!((ScaleDType::F32.down(0.1), ScaleDType::F32.up(0.1)), (0.1, 0.1));
    }

    #[test]
    fn pairs_are_stored_in_the_order_that_kernels_unpack() {
        let pair = Pair { scale: 1.5, offset: -2.0 };
        let mut word = [0];
        pair.store(ScaleDType::F16, &mut word);
        assert_eq!(word, [0xc000_3e00]);
        assert_eq!(Pair::load(ScaleDType::F16, &word), pair);
        let mut words = [0; 2];
        pair.store(ScaleDType::F32, &mut words);
        assert_eq!(words, [1.5f32.to_bits(), (-2.0f32).to_bits()]);
        assert_eq!(Pair::load(ScaleDType::F32, &words), pair);
    }

    /// Tries all codes in `f64`, except for the subtraction, which the definition rounds to `f32`.
    fn by_definition(pair: Pair, x: f32, largest: u32) -> u32 {
        let sign = if pair.scale < 0.0 { -1.0 } else { 1.0 };
        let (scale, above) = (f64::from(pair.scale * sign), f64::from(sign * x - sign * pair.offset));
        // An `f32` product rounds if the scale exceeds `f16` precision.
        let product = |q: u32| f64::from(((f64::from(q) - 0.5) * scale) as f32);
        (1..=largest).rev().find(|&q| scale != 0.0 && product(q) <= above).unwrap_or(0)
    }

    proptest! {
        #[test]
        fn codes_are_those_of_the_definition(
            scale in prop_oneof![Just(0.0f32), -3.0f32..3.0, 1e-7f32..1e-5, Just(0.25f32)],
            offset in -9.0f32..9.0,
            x in prop_oneof![-20.0f32..20.0, (-64i32..64).prop_map(|i| i as f32 / 8.0), -1e-5f32..1e-5],
            bits in prop_oneof![Just(1u32), Just(2), Just(3), Just(4), Just(8)],
            narrow in any::<bool>(),
        ) {
            let dtype = if narrow { ScaleDType::F16 } else { ScaleDType::F32 };
            let pair = Pair { scale: dtype.nearest(scale), offset: dtype.nearest(offset) };
            let largest = (1 << bits) - 1;
            prop_assert_eq!(pair.code(x, largest), by_definition(pair, x, largest));
        }

        #[test]
        fn rounding_up_and_down_encloses(x in prop_oneof![-70000.0f32..70000.0, -1e-4f32..1e-4, -1e-8f32..1e-8]) {
            let (down, near, up) = (ScaleDType::F16.down(x), ScaleDType::F16.nearest(x), ScaleDType::F16.up(x));
            prop_assert!(down <= x && x <= up);
            prop_assert!(near == down || near == up);
            prop_assert!(down == up || f16::from_f32(down).to_f32() != f16::from_f32(up).to_f32());
        }
    }
}
