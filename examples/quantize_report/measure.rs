//! Compares quantized with unquantized models: errors of one encoder layer, cosines of embeddings, and memory.
//!
//! The host's encoder computes all cases, after a check against the kernels; the kernels recompute the best.

use std::path::{Path, PathBuf};

use super::{
    cases::Case,
    round::{Memory, QuantizedModel},
};
use anyhow::ensure;
use fuse_gpu::Device;
use fuse_minilm_model::{
    Embedder, Precision,
    host::{HostModel, Layer, Texts},
    tokens::Tokens,
    weights::Weights,
};

/// Layer whose errors are reported.
pub(crate) const LAYER: usize = 0;

/// Largest difference of host and device embeddings.
const AGREE: f32 = 1e-4;

/// Unquantized model, and sentences.
pub(crate) struct Yardstick<'a> {
    device: &'a Device,
    file: (&'a Path, &'a [u8]),
    tokens: Tokens,
    model: HostModel,
    sentences: Vec<String>,
    embeddings: Vec<Vec<f32>>,
    host_distance: f32,
    texts: Texts,
    layer: (Vec<f32>, Vec<f32>),
}

pub(crate) struct Outcome {
    pub(crate) case: Case,
    /// `‖Ŵ - W‖ / ‖W‖` of one encoder layer.
    pub(crate) weight_error: f64,
    /// The same error of that layer's outputs.
    pub(crate) output_error: f64,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
    pub(crate) memory: Memory,
    /// Word table, if quantized.
    pub(crate) table: Option<Memory>,
}

impl<'a> Yardstick<'a> {
    pub(crate) fn new(
        device: &'a Device,
        (weights_file, weights): &'a (PathBuf, Vec<u8>),
        (tokenizer_file, tokenizer): &(PathBuf, Vec<u8>),
        sentences: Vec<String>,
    ) -> anyhow::Result<Self> {
        let tokens = Tokens::parse(tokenizer_file, tokenizer)?;
        let read = Weights::parse(weights_file, weights)?;
        let model = HostModel::load(&read)?;
        let embedder = Embedder::new(tokens.clone(), &read, device, Precision::Single)?;
        let embeddings = pollster::block_on(embedder.embed(&sentences, |_| {}))?;

        let texts = Texts::new(&tokens.encode(&sentences)?);
        let mut rows = model.embed(&texts)?;
        for layer in &model.layers[..LAYER] {
            rows = layer.apply(&rows, &texts);
        }
        let layer = (rows.clone(), model.layers[LAYER].apply(&rows, &texts));
        let on_host = model.encode(&texts)?;
        let apart = embeddings.iter().flatten().zip(on_host.iter().flatten()).map(|(a, b)| (a - b).abs());
        let host_distance = apart.fold(0.0, f32::max);
        ensure!(
            host_distance <= AGREE,
            "embeddings of host and device: expected a largest difference of {AGREE}, found {host_distance}"
        );
        let file = (weights_file.as_path(), weights.as_slice());
        Ok(Self { device, file, tokens, model, sentences, embeddings, host_distance, texts, layer })
    }

    pub(crate) fn model(&self) -> &HostModel {
        &self.model
    }

    pub(crate) fn host_distance(&self) -> f32 {
        self.host_distance
    }

    pub(crate) fn tokens(&self, sentences: &[String]) -> anyhow::Result<Vec<Vec<i32>>> {
        self.tokens.encode(sentences)
    }

    pub(crate) fn measure(&self, case: Case, quantized: &QuantizedModel) -> anyhow::Result<Outcome> {
        let (mean, worst) = summary(&cosines(&self.embeddings, &quantized.model.encode(&self.texts)?));
        let (layer, original) = (&quantized.model.layers[LAYER], &self.model.layers[LAYER]);
        let all = |layer: &Layer| -> Vec<f32> {
            layer.linears.iter().flat_map(|linear| linear.weight.iter().copied()).collect()
        };
        let (rows, answers) = &self.layer;
        Ok(Outcome {
            case,
            weight_error: relative_error(&all(layer), &all(original)),
            output_error: relative_error(&layer.apply(rows, &self.texts), answers),
            mean,
            worst,
            memory: quantized.memory(),
            table: quantized.table,
        })
    }

    /// Mean and worst cosine by the kernels, for evaluation and held-out sentences.
    pub(crate) fn on_device(&self, quantized: &QuantizedModel, others: &[String]) -> anyhow::Result<[(f64, f64); 2]> {
        let (file, bytes) = self.file;
        let mut weights = Weights::parse(file, bytes)?;
        let bits = quantized.codes[0].packing.bits();
        weights.overlay(quantized.file())?;
        let quantized = Embedder::new(self.tokens.clone(), &weights, self.device, Precision::Quantized(bits))?;
        let embed = |embedder: &Embedder, texts: &[String]| pollster::block_on(embedder.embed(texts, |_| {}));
        let compared = summary(&cosines(&self.embeddings, &embed(&quantized, &self.sentences)?));
        let original =
            Embedder::new(self.tokens.clone(), &Weights::parse(file, bytes)?, self.device, Precision::Single)?;
        let (before, after) = (embed(&original, others)?, embed(&quantized, others)?);
        Ok([compared, summary(&cosines(&before, &after))])
    }
}

fn cosines(before: &[Vec<f32>], after: &[Vec<f32>]) -> Vec<f64> {
    before.iter().zip(after).map(|(a, b)| cosine(a, b)).collect()
}

fn summary(cosines: &[f64]) -> (f64, f64) {
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    (mean, cosines.iter().copied().fold(f64::INFINITY, f64::min))
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// `‖a - b‖ / ‖b‖`.
fn relative_error(a: &[f32], b: &[f32]) -> f64 {
    let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>();
    let errors = squares(&mut a.iter().zip(b).map(|(&a, &b)| f64::from(a) - f64::from(b)));
    (errors / squares(&mut b.iter().map(|&b| f64::from(b)))).sqrt()
}
