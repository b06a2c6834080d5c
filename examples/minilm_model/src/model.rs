//! all-MiniLM-L6-v2 on a device: weights, and launches from tokens to embeddings.

use anyhow::ensure;
use fuse_gpu::{Device, Error, Float, Tensor1, Tensor2, Tensor3};

use crate::{
    batch::Batch,
    encoder::{HIDDEN, WIDTH, embed_tokens, encoder_layer, pool},
    tokens::MAX_LENGTH,
    weights::{Upload, Weights},
};

/// Encoder layers.
pub const LAYERS: usize = 6;

/// A model of any precision that encodes batches.
pub trait Encoder {
    /// Embeddings, `f32[texts, 384]`, each of length 1. Returns once the work is recorded.
    ///
    /// # Errors
    /// Those of uploads and launches.
    fn encode(&self, batch: &Batch) -> Result<Tensor2<f32>, Error>;
}

/// Model with weights and activations of type `T`.
pub struct Model<T: Float> {
    embeddings: Embeddings<T>,
    layers: Vec<Layer<T>>,
}

pub(crate) struct Embeddings<T: Float> {
    device: Device,
    words: Tensor2<T>,
    positions: Tensor2<T>,
    segments: Tensor2<T>,
    norm: Norm<T>,
}

/// Encoder layer with linear layers `L`.
pub struct Layer<T: Float, L = Linear<T>> {
    pub(crate) query: L,
    pub(crate) key: L,
    pub(crate) value: L,
    pub(crate) attention: L,
    pub(crate) attention_norm: Norm<T>,
    pub(crate) intermediate: L,
    pub(crate) output: L,
    pub(crate) output_norm: Norm<T>,
}

/// Linear layer: weights `[outputs, inputs]`, and a bias.
pub struct Linear<T: Float> {
    weight: Tensor2<T>,
    bias: Tensor1<T>,
}

/// Layer norm: scale and shift.
pub struct Norm<T: Float> {
    pub(crate) gamma: Tensor1<T>,
    pub(crate) beta: Tensor1<T>,
}

impl<T: Float> Model<T> {
    /// Uploads the model; `vocabulary` is its tokenizer's.
    ///
    /// # Errors
    /// If a tensor is missing or has a wrong shape, and those of uploads.
    pub fn load(weights: &Weights<'_>, vocabulary: usize, to: &Upload<'_, T>) -> anyhow::Result<Self> {
        Ok(Self {
            embeddings: Embeddings::load(weights, vocabulary, to)?,
            layers: (0..LAYERS).map(|layer| Layer::load(layer, weights, to)).collect::<anyhow::Result<_>>()?,
        })
    }
}

impl<T: Float> Encoder for Model<T> {
    fn encode(&self, batch: &Batch) -> Result<Tensor2<f32>, Error> {
        let (mut h, lengths) = self.embeddings.apply(batch)?;
        for layer in &self.layers {
            h = layer.apply(&h, &lengths)?;
        }
        pool(&h, &lengths)
    }
}

impl<T: Float> Embeddings<T> {
    pub(crate) fn load(weights: &Weights<'_>, vocabulary: usize, to: &Upload<'_, T>) -> anyhow::Result<Self> {
        let (words, positions) = ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight");
        let (word_rows, position_rows) = (weights.rows(words, WIDTH)?, weights.rows(positions, WIDTH)?);
        ensure!(
            word_rows >= vocabulary,
            "tensor `{words}`: expected a row for each of the tokenizer's {vocabulary} tokens, found {word_rows} rows"
        );
        ensure!(
            position_rows >= MAX_LENGTH,
            "tensor `{positions}`: expected at least {MAX_LENGTH} rows, found {position_rows}"
        );
        Ok(Self {
            device: to.device.clone(),
            words: weights.upload(words, [word_rows, WIDTH], to)?,
            positions: weights.upload(positions, [position_rows, WIDTH], to)?,
            segments: weights.upload("embeddings.token_type_embeddings.weight", [2, WIDTH], to)?,
            norm: Norm::load("embeddings.LayerNorm", weights, to)?,
        })
    }

    /// First hidden states, and real tokens of each text.
    pub(crate) fn apply(&self, batch: &Batch) -> Result<(Tensor3<T>, Tensor1<i32>), Error> {
        let lengths = Tensor1::from_slice(&self.device, &batch.lengths, [batch.lengths.len()])?;
        let ids = Tensor2::from_slice(&self.device, &batch.ids, [batch.lengths.len(), batch.width])?;
        let Norm { gamma, beta } = &self.norm;
        let h = embed_tokens(&ids, &self.words, &self.positions, &self.segments, gamma, beta)?;
        Ok((h, lengths))
    }
}

impl<T: Float, L> Layer<T, L> {
    /// `linear` loads linear layers by name and shape `[outputs, inputs]`.
    pub(crate) fn load_with(
        layer: usize,
        weights: &Weights<'_>,
        to: &Upload<'_, T>,
        linear: impl Fn(&str, [usize; 2], &Weights<'_>, &Upload<'_, T>) -> anyhow::Result<L>,
    ) -> anyhow::Result<Self> {
        let linear = |name: &str, shape| linear(&format!("encoder.layer.{layer}.{name}"), shape, weights, to);
        let norm = |name: &str| Norm::load(&format!("encoder.layer.{layer}.{name}"), weights, to);
        Ok(Self {
            query: linear("attention.self.query", [WIDTH, WIDTH])?,
            key: linear("attention.self.key", [WIDTH, WIDTH])?,
            value: linear("attention.self.value", [WIDTH, WIDTH])?,
            attention: linear("attention.output.dense", [WIDTH, WIDTH])?,
            attention_norm: norm("attention.output.LayerNorm")?,
            intermediate: linear("intermediate.dense", [HIDDEN, WIDTH])?,
            output: linear("output.dense", [WIDTH, HIDDEN])?,
            output_norm: norm("output.LayerNorm")?,
        })
    }
}

impl<T: Float> Layer<T> {
    /// Loads layer `layer`.
    ///
    /// # Errors
    /// If a tensor is missing or has a wrong shape, and those of uploads.
    pub fn load(layer: usize, weights: &Weights<'_>, to: &Upload<'_, T>) -> anyhow::Result<Self> {
        Self::load_with(layer, weights, to, Linear::load)
    }

    /// Output for hidden states `[texts, width, 384]`, of which `lengths` are real.
    ///
    /// # Errors
    /// Those of launches.
    pub fn apply(&self, h: &Tensor3<T>, lengths: &Tensor1<i32>) -> Result<Tensor3<T>, Error> {
        let Self { query, key, value, attention, attention_norm, intermediate, output, output_norm } = self;
        encoder_layer(
            h,
            lengths,
            &query.weight,
            &query.bias,
            &key.weight,
            &key.bias,
            &value.weight,
            &value.bias,
            &attention.weight,
            &attention.bias,
            &attention_norm.gamma,
            &attention_norm.beta,
            &intermediate.weight,
            &intermediate.bias,
            &output.weight,
            &output.bias,
            &output_norm.gamma,
            &output_norm.beta,
        )
    }
}

impl<T: Float> Linear<T> {
    fn load(
        name: &str,
        [outputs, inputs]: [usize; 2],
        weights: &Weights<'_>,
        to: &Upload<'_, T>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            weight: weights.upload(&format!("{name}.weight"), [outputs, inputs], to)?,
            bias: weights.upload(&format!("{name}.bias"), [outputs], to)?,
        })
    }
}

impl<T: Float> Norm<T> {
    pub(crate) fn load(name: &str, weights: &Weights<'_>, to: &Upload<'_, T>) -> anyhow::Result<Self> {
        Ok(Self {
            gamma: weights.upload(&format!("{name}.weight"), [WIDTH], to)?,
            beta: weights.upload(&format!("{name}.bias"), [WIDTH], to)?,
        })
    }
}
