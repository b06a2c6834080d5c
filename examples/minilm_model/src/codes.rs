//! Quantized linear layers in a file: a calibrated model loads without quantization.
//!
//! A `.safetensors` file. A linear layer's weight `name` has words `name.words` and pairs of scale and offset
//! `name.scales`, `U32` as kernels read them. Biases and layer norms, which calibration changes, too, are `F32` under
//! their own names. Metadata: packing of words (`packing`), dtype of scales (`scales`).

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, bail, ensure};
use fuse_gpu::quantize::{Packing, Quantized, ScaleDType};
use safetensors::{
    Dtype, SafeTensors,
    tensor::{TensorView, serialize},
};

/// Packed axis of weights `[outputs, inputs]`.
const AXIS: usize = 1;

/// Quantized linear layers, and other values that calibration changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Codes {
    /// Bits, and their layout in words.
    pub packing: Packing,
    /// Weights `[outputs, inputs]` by name, packed along inputs.
    pub weights: BTreeMap<String, Quantized>,
    /// Biases, and layer norms, by name.
    pub values: BTreeMap<String, Vec<f32>>,
}

impl Codes {
    /// Codes without weights.
    pub fn new(packing: Packing) -> Self {
        Self { packing, weights: BTreeMap::new(), values: BTreeMap::new() }
    }

    /// Parses the bytes of the file at `path`.
    ///
    /// # Errors
    /// If the bytes are no such file, or a tensor does not match its shape and the metadata.
    pub fn parse(path: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        Self::of_file(bytes).with_context(|| format!("`{}` is no file of quantized layers", path.display()))
    }

    fn of_file(bytes: &[u8]) -> anyhow::Result<Self> {
        let (_, header) = SafeTensors::read_metadata(bytes)?;
        let metadata = header.metadata().as_ref();
        let say =
            |key: &str| metadata.and_then(|entries| entries.get(key)).with_context(|| format!("no `{key}` in it"));
        let found = say("packing")?;
        let packing = Packing::ALL.into_iter().find(|known| known.name() == found);
        let packing = packing.with_context(|| format!("`packing`: expected q8, q4, q3, q2 or q1, found {found:?}"))?;
        let found = say("scales")?;
        let dtype = [ScaleDType::F16, ScaleDType::F32].into_iter().find(|known| known.name() == found);
        let dtype = dtype.with_context(|| format!("`scales`: expected f16 or f32, found {found:?}"))?;
        let file = SafeTensors::deserialize(bytes)?;
        let mut codes = Self::new(packing);
        for (name, view) in file.tensors() {
            if let Some(name) = name.strip_suffix(".words") {
                let scales = file.tensor(&format!("{name}.scales"))?;
                let weights = weights(packing, dtype, [&view, &scales]);
                codes.weights.insert(name.to_owned(), weights.with_context(|| format!("tensor `{name}`"))?);
            } else if !name.ends_with(".scales") {
                codes.values.insert(name.clone(), numbers(&name, &view)?);
            }
        }
        Ok(codes)
    }

    /// Serializes to a file's bytes.
    ///
    /// # Errors
    /// If weights differ from `packing`, are packed along the outputs, or have scales of different dtypes.
    pub fn to_bytes(&self) -> anyhow::Result<Vec<u8>> {
        let dtype = self.weights.values().next().map_or(ScaleDType::F16, |first| first.scale_dtype);
        let le = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let mut tensors = vec![];
        for (name, weights) in &self.weights {
            weights.check().with_context(|| format!("tensor `{name}`"))?;
            let same = weights.packing == self.packing && weights.axis == AXIS && weights.scale_dtype == dtype;
            ensure!(
                same,
                "tensor `{name}`: expected {} along axis {AXIS} with scales of {}",
                self.packing.name(),
                dtype.name()
            );
            // Words give the packed axis's extent only if they are full.
            let [outputs, inputs] = *weights.shape else { bail!("tensor `{name}`: expected a matrix") };
            let full = inputs.is_multiple_of(self.packing.block_values() as usize);
            ensure!(full, "tensor `{name}`: {inputs} inputs do not fill whole blocks of words");
            let words = vec![outputs, self.packing.words(inputs)];
            tensors.push((format!("{name}.words"), Dtype::U32, words, le(&weights.words)));
            let scales = vec![outputs, weights.groups, dtype.pair_words()];
            tensors.push((format!("{name}.scales"), Dtype::U32, scales, le(&weights.scales)));
        }
        for (name, values) in &self.values {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            tensors.push((name.clone(), Dtype::F32, vec![values.len()], bytes));
        }
        let views = tensors
            .iter()
            .map(|(name, dtype, shape, bytes)| Ok((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?)));
        let views: Vec<(&str, TensorView<'_>)> = views.collect::<anyhow::Result<_>>()?;
        let metadata = [("packing", self.packing.name()), ("scales", dtype.name())];
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Ok(serialize(views, Some(metadata.into_iter().collect()))?)
    }
}

fn weights(packing: Packing, dtype: ScaleDType, [words, scales]: [&TensorView<'_>; 2]) -> anyhow::Result<Quantized> {
    let (&[outputs, row_words], &[scale_rows, groups, pair_words]) = (words.shape(), scales.shape()) else {
        bail!("expected words [outputs, words] and scales [outputs, groups, {}]", dtype.pair_words());
    };
    let fits = outputs == scale_rows && pair_words == dtype.pair_words();
    ensure!(fits, "words {:?} and scales {:?} do not fit", words.shape(), scales.shape());
    let inputs = row_words / packing.block_words() as usize * packing.block_values() as usize;
    let (words, scales) = (integers(words)?, integers(scales)?);
    Ok(Quantized::from_parts(packing, &[outputs, inputs], AXIS, groups, dtype, words, scales)?)
}

fn integers(view: &TensorView<'_>) -> anyhow::Result<Vec<u32>> {
    ensure!(view.dtype() == Dtype::U32, "expected U32, found {:?}", view.dtype());
    Ok(view.data().as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect())
}

fn numbers(name: &str, view: &TensorView<'_>) -> anyhow::Result<Vec<f32>> {
    ensure!(view.dtype() == Dtype::F32, "tensor `{name}`: expected F32, found {:?}", view.dtype());
    let values: Vec<f32> = view.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    match values.iter().position(|x| !x.is_finite()) {
        Some(at) => bail!("tensor `{name}` has the number {} at {at}", values[at]),
        None => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use fuse_gpu::quantize::{QuantScheme, quantize};

    use super::*;

    fn codes(packing: Packing) -> Codes {
        let inputs = 3 * packing.block_values() as usize;
        let values: Vec<f32> = (0..2 * inputs).map(|i| (i as f32 * 0.7).sin()).collect();
        let scheme = QuantScheme::asymmetric().axis(AXIS).per_channel();
        let mut codes = Codes::new(packing);
        codes.weights.insert("a.weight".into(), quantize(packing, &values, &[2, inputs], &scheme).unwrap());
        codes.values.insert("a.bias".into(), vec![0.5, -1.0]);
        codes
    }

    #[test]
    fn codes_survive_a_file() {
        for packing in Packing::ALL {
            let codes = codes(packing);
            let bytes = codes.to_bytes().unwrap();
            assert_eq!(Codes::parse(Path::new("q"), &bytes).unwrap(), codes, "{packing:?}");
        }
    }

    #[test]
    fn damaged_files_say_what_is_wrong() {
        let message = |bytes: &[u8]| format!("{:#}", Codes::parse(Path::new("q"), bytes).unwrap_err());
        let bytes = codes(Packing::Q4).to_bytes().unwrap();
        let starts = |text: &str, part: &str| assert!(text.starts_with(part), "{text}");
        let ends = |text: &str, part: &str| assert!(text.ends_with(part), "{text}");
        starts(&message(&bytes[..40]), "`q` is no file of quantized layers: ");
        let mut other = codes(Packing::Q4);
        other.values.insert("b.bias".into(), vec![f32::NAN]);
        ends(&message(&other.to_bytes().unwrap()), "tensor `b.bias` has the number NaN at 0");
        let plain = serialize(Vec::<(&str, TensorView<'_>)>::new(), None).unwrap();
        ends(&message(&plain), "no `packing` in it");
        let at = bytes.windows(4).position(|part| part == b"\"q4\"").unwrap();
        let mut unknown = bytes.clone();
        unknown[at + 1..at + 3].copy_from_slice(b"q5");
        ends(&message(&unknown), "`packing`: expected q8, q4, q3, q2 or q1, found \"q5\"");
        let mut mixed = codes(Packing::Q4);
        mixed.packing = Packing::Q2;
        assert!(mixed.to_bytes().is_err());
    }
}
