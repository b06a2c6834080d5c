//! BitNet b1.58 of Hugging Face's transformers: each byte row packs four rows of ternary weights.
//!
//! Bytes are `[R, in]` with R = ⌈out / 4⌉, values `[out, in]`, with one scale. Formula: transformers,
//! `integrations/bitnet.py`, `unpack_weights`: bits 2i and 2i + 1 of byte row r are row r + i * R, plus 1.

use super::{Error, check_length, check_size, product};
use crate::codes::Codes;

/// Sizes of a BitNet matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitNetLayout {
    /// N, the width of the output. If it is no multiple of 4, excess rows are ignored.
    pub out_features: usize,
    /// K, the width of the input.
    pub in_features: usize,
}

/// Matrix's scale, `weight_scale`, and its use in transformers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BitNetScale {
    /// Factor of the values: layers of class `autobitlinear`.
    Multiply(f32),
    /// Divisor of the values: layers of class `bitlinear`, the default of configurations.
    Divide(f32),
}

impl BitNetLayout {
    /// Byte rows, ⌈out / 4⌉.
    pub fn packed_rows(&self) -> usize {
        self.out_features.div_ceil(4)
    }

    /// Decodes all values into `out`, `[out, in]`. Exact with [`BitNetScale::Multiply`]; the quotient rounds once.
    ///
    /// # Errors
    /// [`Error::Size`] for a size 0, [`Error::Length`] for slices of other lengths. [`Error::Range`] for code 3, which
    /// is no ternary weight; `found` is the weight 2 that it encodes.
    pub fn decode(&self, packed: &[u8], scale: BitNetScale, out: &mut [f32]) -> Result<(), Error> {
        self.check_packed(packed)?;
        check_length("out", &[self.out_features, self.in_features], out.len())?;
        // Code 3 was rejected before.
        let values = [-1.0, 0.0, 1.0, 2.0].map(|weight: f32| match scale {
            BitNetScale::Multiply(scale) => weight * scale,
            BitNetScale::Divide(scale) => weight / scale,
        });
        for (row, out) in out.chunks_exact_mut(self.in_features).enumerate() {
            for (value, code) in out.iter_mut().zip(self.row(packed, row)?) {
                *value = values[usize::from(code)];
            }
        }
        Ok(())
    }

    /// Codes `[out, in]` with one run per row.
    pub(crate) fn codes(&self, packed: &[u8], scale: BitNetScale) -> Result<Codes, Error> {
        self.check_packed(packed)?;
        let &Self { out_features, in_features } = self;
        let mut codes = Vec::with_capacity(product("out", &[out_features, in_features])?);
        for row in 0..out_features {
            codes.extend(self.row(packed, row)?);
        }
        let scale = match scale {
            BitNetScale::Multiply(scale) => scale,
            BitNetScale::Divide(scale) => 1.0 / scale,
        };
        let (scales, offsets) = (vec![scale; out_features], vec![-scale; out_features]);
        Ok(Codes { bits: 2, run: in_features, codes, scales, offsets })
    }

    /// Codes 0, 1 or 2 of a row of checked bytes.
    fn row<'a>(&self, packed: &'a [u8], row: usize) -> Result<impl Iterator<Item = u8> + use<'a>, Error> {
        let rows = self.packed_rows();
        let (start, shift) = (row % rows * self.in_features, 2 * (row / rows));
        let codes = packed[start..start + self.in_features].iter().map(move |byte| (byte >> shift) & 3);
        match codes.clone().position(|code| code == 3) {
            None => Ok(codes),
            Some(column) => {
                Err(Error::Range { argument: "packed", index: start + column, least: -1, most: 1, found: 2 })
            }
        }
    }

    fn check_packed(&self, packed: &[u8]) -> Result<(), Error> {
        self.check()?;
        check_length("packed", &[self.packed_rows(), self.in_features], packed.len())
    }

    /// Packs ternary weights `[out, in]`. Excess rows up to a multiple of 4 have bits 0.
    ///
    /// # Errors
    /// [`Error::Size`], [`Error::Length`], or [`Error::Range`] for a weight other than -1, 0 or 1.
    pub fn pack(&self, weights: &[i8]) -> Result<Vec<u8>, Error> {
        self.check()?;
        let &Self { out_features, in_features } = self;
        check_length("weights", &[out_features, in_features], weights.len())?;
        if let Some(index) = weights.iter().position(|weight| !(-1..=1).contains(weight)) {
            let found = weights[index].into();
            return Err(Error::Range { argument: "weights", index, least: -1, most: 1, found });
        }
        let rows = self.packed_rows();
        let mut packed = vec![0; product("packed", &[rows, in_features])?];
        for (row, weights) in weights.chunks_exact(in_features).enumerate() {
            let packed = &mut packed[row % rows * in_features..][..in_features];
            for (byte, &weight) in packed.iter_mut().zip(weights) {
                *byte |= ((weight + 1) as u8) << (2 * (row / rows));
            }
        }
        Ok(packed)
    }

    fn check(&self) -> Result<(), Error> {
        check_size("out_features", self.out_features > 0, "at least 1", self.out_features)?;
        check_size("in_features", self.in_features > 0, "at least 1", self.in_features)
    }
}
