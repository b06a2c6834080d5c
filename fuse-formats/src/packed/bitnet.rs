//! BitNet b1.58 as Hugging Face's transformers pack it: four rows of ternary weights in each row of bytes.
//!
//! Input: bytes `[R, in]` with R = ⌈out / 4⌉, and one scale. Output: values `[out, in]`. Formula: transformers,
//! `integrations/bitnet.py`, `unpack_weights`: the bits 2i and 2i + 1 of byte row r are row r + i * R, plus 1.

use super::{Error, check_length, check_size, product};

/// The sizes of a BitNet matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitNetLayout {
    /// N, the width of the output. Where it is not a multiple of 4, the rows beyond it are not looked at.
    pub out_features: usize,
    /// K, the width of the input.
    pub in_features: usize,
}

/// The matrix's scale, `weight_scale`, and what transformers do with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BitNetScale {
    /// Values are multiplied by it: layers of class `autobitlinear`.
    Multiply(f32),
    /// Values are divided by it: layers of class `bitlinear`, the default of configurations that name none.
    Divide(f32),
}

impl BitNetLayout {
    /// Rows of bytes, ⌈out / 4⌉.
    pub fn packed_rows(&self) -> usize {
        self.out_features.div_ceil(4)
    }

    /// Decodes all values into `out`, `[out, in]`. Exact with [`BitNetScale::Multiply`]; the quotient rounds once.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] for a size 0, [`Error::Length`] for slices of other lengths, [`Error::Range`] for a code 3,
    /// which is no ternary weight: `found` is the weight that it would be, 2.
    pub fn decode(&self, packed: &[u8], scale: BitNetScale, out: &mut [f32]) -> Result<(), Error> {
        self.check()?;
        let &Self { out_features, in_features } = self;
        let rows = self.packed_rows();
        check_length("packed", &[rows, in_features], packed.len())?;
        check_length("out", &[out_features, in_features], out.len())?;
        let values = [-1.0, 0.0, 1.0].map(|weight: f32| match scale {
            BitNetScale::Multiply(scale) => weight * scale,
            BitNetScale::Divide(scale) => weight / scale,
        });
        for (row, out) in out.chunks_exact_mut(in_features).enumerate() {
            let start = row % rows * in_features;
            let shift = 2 * (row / rows);
            for (column, (value, byte)) in out.iter_mut().zip(&packed[start..]).enumerate() {
                let code = usize::from((byte >> shift) & 3);
                *value = *values.get(code).ok_or(Error::Range {
                    argument: "packed",
                    index: start + column,
                    least: -1,
                    most: 1,
                    found: code as i64 - 1,
                })?;
            }
        }
        Ok(())
    }

    /// Packs ternary weights `[out, in]`. Rows beyond a last one that is not a multiple of 4 are bits 0.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], [`Error::Length`], or [`Error::Range`] for a weight that is not -1, 0 or 1.
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
