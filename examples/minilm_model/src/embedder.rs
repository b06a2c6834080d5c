//! Embeds texts: tokens, batches, launches and readback, in input order.

use std::path::Path;

#[cfg(feature = "quantized")]
use anyhow::bail;
use anyhow::{Context, ensure};
use fuse_gpu::{Device, Tensor2, f16};
#[cfg(feature = "quantized")]
use fuse_gpu::{Q1, Q2, Q3, Q4, Q8};

#[cfg(feature = "quantized")]
use crate::quantized::QuantizedModel;
use crate::{
    batch::batches,
    encoder::WIDTH,
    model::{Encoder, Model},
    tokens::Tokens,
    weights::{Upload, Weights},
};

/// Precision on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f16`; accumulators and embeddings stay `f32`.
    Half,
    /// Linear weights of 8, 4, 3, 2 or 1 bits; activations of `f32`.
    #[cfg(feature = "quantized")]
    Quantized(u32),
}

/// Loaded model.
pub struct Embedder {
    tokens: Tokens,
    encoder: Box<dyn Encoder>,
}

impl Embedder {
    /// Loads a model from paths, for messages, and bytes of `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// If a file is damaged, weights are not those of all-MiniLM-L6-v2, or the device lacks a feature.
    pub fn load(
        (weights_file, weights): (&Path, &[u8]),
        (tokenizer_file, tokenizer): (&Path, &[u8]),
        device: &Device,
        precision: Precision,
    ) -> anyhow::Result<Self> {
        let tokens = Tokens::parse(tokenizer_file, tokenizer)?;
        let load = || Self::new(tokens, &Weights::parse(weights_file, weights)?, device, precision);
        load().with_context(|| format!("cannot load the model `{}`", weights_file.display()))
    }

    /// Creates the embedder of parsed weights.
    ///
    /// # Errors
    /// If the weights are not those of all-MiniLM-L6-v2, or the device lacks a feature of the precision.
    pub fn new(tokens: Tokens, weights: &Weights<'_>, device: &Device, precision: Precision) -> anyhow::Result<Self> {
        let adapter = &device.info().name;
        let possible = precision != Precision::Half || device.info().features.f16;
        ensure!(possible, "adapter `{adapter}` has no 16-bit floats (`shader-f16`)");
        let vocabulary = tokens.vocabulary();
        let encoder: Box<dyn Encoder> = match precision {
            Precision::Single => Box::new(Model::load(weights, vocabulary, &Upload { device, convert: |x| x })?),
            Precision::Half => Box::new(Model::load(weights, vocabulary, &Upload { device, convert: f16::from_f32 })?),
            #[cfg(feature = "quantized")]
            Precision::Quantized(bits) => match bits {
                8 => Box::new(QuantizedModel::<Q8>::load(weights, vocabulary, device)?),
                4 => Box::new(QuantizedModel::<Q4>::load(weights, vocabulary, device)?),
                3 => Box::new(QuantizedModel::<Q3>::load(weights, vocabulary, device)?),
                2 => Box::new(QuantizedModel::<Q2>::load(weights, vocabulary, device)?),
                1 => Box::new(QuantizedModel::<Q1>::load(weights, vocabulary, device)?),
                _ => bail!("weights have 8, 4, 3, 2 or 1 bit, found {bits}"),
            },
        };
        Ok(Self { tokens, encoder })
    }

    /// Embeddings of length 1. `done` gets the number of texts of each finished batch.
    ///
    /// # Errors
    /// Those of the tokenizer, of launches and of readback.
    pub async fn embed(&self, texts: &[String], mut done: impl FnMut(usize)) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut embeddings = vec![vec![]; texts.len()];
        let mut running: Option<(Vec<usize>, Tensor2<f32>)> = None;
        for batch in batches(&self.tokens.encode(texts)?).into_iter().map(Some).chain([None]) {
            let next = match batch {
                Some(batch) => {
                    let rows = self.encoder.encode(&batch)?;
                    rows.device().submit()?;
                    Some((batch.texts, rows))
                }
                None => None,
            };
            if let Some((places, rows)) = std::mem::replace(&mut running, next) {
                let values = rows.to_vec().await?;
                for (&place, row) in places.iter().zip(values.chunks(WIDTH)) {
                    embeddings[place] = row.to_vec();
                }
                done(places.len());
            }
        }
        Ok(embeddings)
    }
}
