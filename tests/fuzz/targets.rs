//! Fuzz targets: no bytes make them panic, and accepted input round-trips. `main.rs` runs them on a fixed corpus with
//! mutations, `fuzz/` on libFuzzer's input.

use fuse_formats::{
    gguf::Gguf,
    import,
    packed::{
        AwqArrays, AwqLayout, BitNetLayout, BitNetScale, GptqArrays, GptqLayout, NBitsArrays, NBitsLayout, StoredZero,
    },
};
use fuse_quantize::{Granularity, Packing, QuantScheme, Quantized, Rounding, ScaleDType, Symmetry, quantize};
use fuse_runtime::Table;
use half::f16;

/// Limit of decoded elements: formats allow more than a test has memory for.
const MAX_ELEMENTS: usize = 1 << 14;

pub(crate) type Target = fn(&[u8]);

pub(crate) fn gguf_file(bytes: &[u8]) {
    let Ok(file) = Gguf::parse(bytes) else { return };
    for tensor in file.tensors().iter().filter(|tensor| tensor.len() <= MAX_ELEMENTS) {
        if let Ok(values) = tensor.to_f32() {
            assert_eq!(values.len(), tensor.len());
        }
        if let Ok(quantized) = import::tensor(tensor) {
            is_sound(&quantized);
        }
    }
}

pub(crate) fn table(bytes: &[u8]) {
    let Ok(table) = Table::parse("fuzz", &String::from_utf8_lossy(bytes)) else { return };
    assert_eq!(Table::parse("fuzz", &table.text()).as_ref(), Ok(&table));
    for entry in table.entries() {
        assert_eq!(table.entry(&entry.class, &entry.sizes), Some(entry));
        assert!(entry.schedules.iter().all(|(name, relative)| *relative >= 1.0 && entry.covers(name)));
    }
}

pub(crate) fn packed(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let format = bytes.byte() % 4;
    let [k, n, group] = [bytes.size(), bytes.size(), bytes.size()];
    let bits = u32::from(bytes.byte() % 10);
    let flags = bytes.byte();
    let count = k.checked_mul(n).filter(|count| *count <= MAX_ELEMENTS);
    let mut out = vec![0.0; count.unwrap_or(0)];
    let codes = bytes.codes(out.len(), bits);
    match format {
        0 => {
            let stored_zero = if flags & 1 == 0 { StoredZero::Plain } else { StoredZero::MinusOne };
            let layout = GptqLayout { bits, k, n, group_size: group, stored_zero };
            let scales = bytes.halves(lines(layout.groups(), n));
            let any = bytes.words(usize::from(flags));
            drop(layout.decode(&GptqArrays { qweight: &any, qzeros: &any, scales: &scales, g_idx: None }, &mut out));
            let zeros = bytes.codes(lines(layout.groups(), n), bits);
            let Ok(words) = layout.pack(&codes, &zeros) else { return };
            let g_idx = bytes.words(k.min(MAX_ELEMENTS));
            let g_idx = (flags & 2 == 2).then_some(&*g_idx);
            let arrays = GptqArrays { qweight: &words.qweight, qzeros: &words.qzeros, scales: &scales, g_idx };
            drop(layout.decode(&arrays, &mut out));
            import::gptq(&layout, &arrays).iter().for_each(is_sound);
        }
        1 => {
            let layout = AwqLayout { k, n, group_size: group };
            let scales = bytes.halves(lines(layout.groups(), n));
            let any = bytes.words(usize::from(flags));
            drop(layout.decode(&AwqArrays { qweight: &any, qzeros: &any, scales: &scales }, &mut out));
            let zeros = bytes.codes(lines(layout.groups(), n), 4);
            let Ok(words) = layout.pack(&codes, &zeros) else { return };
            let arrays = AwqArrays { qweight: &words.qweight, qzeros: &words.qzeros, scales: &scales };
            drop(layout.decode(&arrays, &mut out));
            import::awq(&layout, &arrays).iter().for_each(is_sound);
        }
        2 => {
            let layout = NBitsLayout { bits, n, k, block_size: group };
            let scales: Vec<f32> = bytes.halves(lines(layout.blocks(), n)).iter().map(|scale| scale.to_f32()).collect();
            let any = bytes.codes(usize::from(flags), 8);
            drop(layout.decode(&NBitsArrays { b: &any, scales: &scales, zero_points: None }, &mut out));
            let zeros = bytes.codes(lines(layout.blocks(), n), bits);
            let Ok(packed) = layout.pack(&codes, &zeros) else { return };
            let zero_points = (flags & 1 == 1).then_some(&*packed.zero_points);
            let arrays = NBitsArrays { b: &packed.b, scales: &scales, zero_points };
            drop(layout.decode(&arrays, &mut out));
            import::n_bits(&layout, &arrays).iter().for_each(is_sound);
        }
        _ => {
            let layout = BitNetLayout { out_features: n, in_features: k };
            let scale = bytes.halves(1)[0].to_f32();
            let scale = if flags & 1 == 0 { BitNetScale::Multiply(scale) } else { BitNetScale::Divide(scale) };
            let any = bytes.codes(lines(layout.packed_rows(), k), 8);
            drop(layout.decode(&any, scale, &mut out));
            import::bitnet(&layout, &any, scale).iter().for_each(is_sound);
        }
    }
}

/// Quantizes and dequantizes with any scheme and shape; builds tensors from inconsistent parts.
pub(crate) fn quantized(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let packing = Packing::ALL[usize::from(bytes.byte()) % Packing::ALL.len()];
    let flags = bytes.byte();
    let shape: Vec<usize> = (0..bytes.byte() % 5).map(|_| bytes.size()).collect();
    let granularity = match flags & 3 {
        0 => Granularity::Tensor,
        1 => Granularity::Channel,
        _ => Granularity::Group(bytes.size()),
    };
    let scheme = QuantScheme {
        symmetry: if flags & 4 == 0 { Symmetry::Symmetric } else { Symmetry::Asymmetric },
        granularity,
        scales: if flags & 8 == 0 { ScaleDType::F16 } else { ScaleDType::F32 },
        rounding: if flags & 16 == 0 { Rounding::Nearest } else { Rounding::LeastSquares },
        axis: (flags & 32 == 32).then(|| bytes.byte().into()),
    };
    let elements = shape.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
    let count = elements.filter(|count| *count <= MAX_ELEMENTS).unwrap_or(0);
    let values: Vec<f32> = bytes.halves(count).iter().map(|value| value.to_f32()).collect();
    if let Ok(quantized) = quantize(packing, &values, &shape, &scheme) {
        is_sound(&quantized);
        assert_eq!(quantized.dequantize().len(), values.len());
    }
    let (axis, groups) = (bytes.byte().into(), bytes.size());
    let codes = bytes.codes(count, packing.bits());
    let pairs = bytes.halves(lines(groups, count.checked_div(shape.get(axis).copied().unwrap_or(1)).unwrap_or(0)));
    let pairs: Vec<f32> = pairs.iter().map(|value| value.to_f32()).collect();
    let made = Quantized::from_codes(packing, &shape, axis, groups, scheme.scales, &codes, (&pairs, &pairs));
    made.iter().for_each(is_sound);
}

fn is_sound(quantized: &Quantized) {
    assert_eq!(quantized.check(), Ok(()));
    assert_eq!(quantized.dequantize().len(), quantized.codes().len());
}

/// A product of sizes, or 0 beyond [`MAX_ELEMENTS`].
fn lines(a: usize, b: usize) -> usize {
    a.checked_mul(b).filter(|count| *count <= MAX_ELEMENTS).unwrap_or(0)
}

/// Zeros after the last byte.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    /// Mostly small; for 255, a size of 64 bits.
    fn size(&mut self) -> usize {
        match self.byte() {
            255 => (0..8).fold(0u64, |size, _| size << 8 | u64::from(self.byte())) as usize,
            size => size.into(),
        }
    }

    fn cycle(&self, count: usize) -> impl Iterator<Item = u8> + '_ {
        let rest = if self.0.is_empty() { &[0][..] } else { self.0 };
        rest.iter().copied().cycle().take(count)
    }

    fn codes(&self, count: usize, bits: u32) -> Vec<u8> {
        let most = 1u32.checked_shl(bits).unwrap_or(0).wrapping_sub(1);
        self.cycle(count).map(|byte| (u32::from(byte) & most) as u8).collect()
    }

    fn halves(&self, count: usize) -> Vec<f16> {
        let bytes: Vec<u8> = self.cycle(2 * count).collect();
        bytes.chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]])).collect()
    }

    fn words(&self, count: usize) -> Vec<i32> {
        self.cycle(count).map(|byte| i32::from(byte as i8)).collect()
    }
}
