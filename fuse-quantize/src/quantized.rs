//! A quantized tensor on the host.

use fuse_artifact::Packing;

use crate::{QuantizeError, ScaleDType, layout::Layout, pair::Pair};

/// A quantized tensor on the host: words and scales as kernels read them.
///
/// Both are row-major `u32` tensors of the logical shape, except along the packed axis of extent `K`:
/// `packing.words(K)` words, and `groups` pairs of scale and offset. An [`ScaleDType::F16`] pair is one word, the scale
/// in its low 16 bits; an [`ScaleDType::F32`] pair is two words, the scale first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quantized {
    /// Bits per value, and their layout in words.
    pub packing: Packing,
    /// Logical shape.
    pub shape: Vec<usize>,
    /// Packed axis.
    pub axis: usize,
    /// Groups along the packed axis.
    pub groups: usize,
    /// Storage of scales and offsets.
    pub scale_dtype: ScaleDType,
    /// Codes.
    pub words: Vec<u32>,
    /// Scales and offsets.
    pub scales: Vec<u32>,
}

impl Quantized {
    /// A tensor from words and scales in the layout of the fields.
    ///
    /// Clears the meaningless bits beyond the last value of the packed axis.
    ///
    /// # Errors
    /// If the axis does not exist, groups do not divide it or do not start at words, a length does not match the shape,
    /// or a scale or offset is not finite.
    pub fn from_parts(
        packing: Packing,
        shape: &[usize],
        axis: usize,
        groups: usize,
        scale_dtype: ScaleDType,
        words: Vec<u32>,
        scales: Vec<u32>,
    ) -> Result<Self, QuantizeError> {
        let mut quantized = Self { packing, shape: shape.to_owned(), axis, groups, scale_dtype, words, scales };
        let layout = quantized.checked_layout()?;
        quantized.clear_padding(&layout);
        Ok(quantized)
    }

    /// Checks that the public fields match each other.
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts).
    pub fn check(&self) -> Result<(), QuantizeError> {
        self.checked_layout().map(|_| ())
    }

    fn checked_layout(&self) -> Result<Layout, QuantizeError> {
        let layout = Layout::new(self.packing, &self.shape, self.axis, self.groups)?;
        let pair_words = self.scale_dtype.pair_words();
        Layout::check("words", layout.words, self.words.len())?;
        Layout::check("scales", layout.pairs * pair_words, self.scales.len())?;
        for (place, words) in self.scales.chunks_exact(pair_words).enumerate() {
            check_finite(&layout, place, Pair::load(self.scale_dtype, words))?;
        }
        Ok(layout)
    }

    /// A tensor from another toolchain's codes.
    ///
    /// `codes` are row-major in `shape`, `scales` and `offsets` in the shape with `groups` along the packed axis. A
    /// code `q` means `q·scale + offset`; with zero points, `offset = -zero·scale`. Scales may be negative.
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts); also if a code has too many bits, or a scale or offset is not exact in
    /// `scale_dtype`.
    pub fn from_codes(
        packing: Packing,
        shape: &[usize],
        axis: usize,
        groups: usize,
        scale_dtype: ScaleDType,
        codes: &[u8],
        (scales, offsets): (&[f32], &[f32]),
    ) -> Result<Self, QuantizeError> {
        let layout = Layout::new(packing, shape, axis, groups)?;
        Layout::check("codes", layout.values, codes.len())?;
        Layout::check("scales", layout.pairs, scales.len())?;
        Layout::check("offsets", layout.pairs, offsets.len())?;
        let mut quantized = Self::zeros(&layout, shape, axis, scale_dtype)?;
        for (place, (&scale, &offset)) in scales.iter().zip(offsets).enumerate() {
            check_finite(&layout, place, Pair { scale, offset })?;
            for (what, found) in [("scale", scale), ("offset", offset)] {
                if scale_dtype.nearest(found) != found {
                    let (line, group) = layout.group_of(place);
                    let (index, dtype) = (layout.index(line, group), scale_dtype.name());
                    return Err(QuantizeError::ScaleInexact { what, index, dtype, found });
                }
            }
            let (line, group) = layout.group_of(place);
            quantized.set_pair(&layout, line, group, Pair { scale, offset });
        }
        let most = packing.largest();
        for (place, found) in codes.iter().copied().map(u32::from).enumerate() {
            let (line, k) = layout.line_of(place);
            if found > most {
                return Err(QuantizeError::Code { index: layout.index(line, k), most, found });
            }
            quantized.set_code(&layout, line, k, found);
        }
        Ok(quantized)
    }

    /// All values, row-major in the logical shape: `q·scale + offset`, computed in `f32`.
    ///
    /// If modified fields no longer match, missing words read as 0, as in a buffer.
    pub fn dequantize(&self) -> Vec<f32> {
        let Ok(layout) = Layout::new(self.packing, &self.shape, self.axis, self.groups) else { return vec![] };
        let mut values = vec![0.0; layout.values];
        for line in 0..layout.lines {
            let word = |at: usize| self.words.get(layout.word(line, at)).copied().unwrap_or(0);
            for group in 0..layout.groups {
                let pair = self.pair(&layout, line, group);
                for k in group * layout.group..(group + 1) * layout.group {
                    values[layout.value(line, k)] = pair.value(self.packing.unpack(k, word));
                }
            }
        }
        values
    }

    /// All codes, row-major in the logical shape.
    pub fn codes(&self) -> Vec<u8> {
        let Ok(layout) = Layout::new(self.packing, &self.shape, self.axis, self.groups) else { return vec![] };
        let mut codes = vec![0; layout.values];
        for line in 0..layout.lines {
            let word = |at: usize| self.words.get(layout.word(line, at)).copied().unwrap_or(0);
            for k in 0..layout.extent {
                codes[layout.value(line, k)] = self.packing.unpack(k, word) as u8;
            }
        }
        codes
    }

    /// Bytes of the codes.
    pub fn weight_bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }

    /// Bytes of scales and offsets.
    pub fn scale_bytes(&self) -> u64 {
        4 * self.scales.len() as u64
    }

    pub(crate) fn zeros(
        layout: &Layout,
        shape: &[usize],
        axis: usize,
        scale_dtype: ScaleDType,
    ) -> Result<Self, QuantizeError> {
        let (words, scales) = (layout.zero_words()?, layout.zero_scales(scale_dtype)?);
        let (packing, groups) = (layout.packing(), layout.groups);
        Ok(Self { packing, shape: shape.to_owned(), axis, groups, scale_dtype, words, scales })
    }

    /// Sets a code, which must be 0 before.
    pub(crate) fn set_code(&mut self, layout: &Layout, line: usize, k: usize, code: u32) {
        self.packing.pack(k, code, |at, bits| self.words[layout.word(line, at)] |= bits);
    }

    pub(crate) fn set_pair(&mut self, layout: &Layout, line: usize, group: usize, pair: Pair) {
        let (words, place) = (self.scale_dtype.pair_words(), layout.pair(line, group));
        pair.store(self.scale_dtype, &mut self.scales[place * words..(place + 1) * words]);
    }

    fn pair(&self, layout: &Layout, line: usize, group: usize) -> Pair {
        let (words, place) = (self.scale_dtype.pair_words(), layout.pair(line, group));
        self.scales.get(place * words..(place + 1) * words).map_or(Pair::default(), |w| Pair::load(self.scale_dtype, w))
    }

    fn clear_padding(&mut self, layout: &Layout) {
        let bits = self.packing.bits() as usize;
        // Without lines, the extent is arbitrary.
        let used = if layout.lines == 0 { 0 } else { layout.extent * bits };
        for line in 0..layout.lines {
            for word in used / 32..self.packing.words(layout.extent) {
                let kept = used.saturating_sub(word * 32).min(31);
                self.words[layout.word(line, word)] &= (1u32 << kept) - 1;
            }
        }
    }
}

fn check_finite(layout: &Layout, place: usize, pair: Pair) -> Result<(), QuantizeError> {
    for (argument, found) in [("scales", pair.scale), ("offsets", pair.offset)] {
        if !found.is_finite() {
            let (line, group) = layout.group_of(place);
            return Err(QuantizeError::NotFinite { argument, index: layout.index(line, group), found });
        }
    }
    Ok(())
}
