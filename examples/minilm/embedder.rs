//! Texts in, embeddings out: a model's folder opened as one thing.
//!
//! Tokens, batches, launches and readback come together here; results are in the order of the texts.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use fuse_gpu::{Device, Tensor2, f16};

use super::{
    batch::batches,
    encoder::WIDTH,
    model::{Encoder, Model},
    tokens::Tokens,
    weights::{Upload, Weights},
};

/// The precision of weights and activations on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// `f32`.
    Single,
    /// `f16`; sums and the embeddings themselves stay `f32`.
    Half,
}

/// A model that is ready to embed texts.
pub(crate) struct Embedder {
    tokens: Tokens,
    encoder: Box<dyn Encoder>,
}

impl Embedder {
    /// Opens the model in a folder that holds `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// If a file is missing or damaged, the weights are not those of all-MiniLM-L6-v2, or the device lacks what the
    /// precision needs.
    pub(crate) fn open(folder: &Path, device: &Device, precision: Precision) -> anyhow::Result<Self> {
        if precision == Precision::Half && !device.info().features.f16 {
            let adapter = &device.info().name;
            bail!("adapter `{adapter}` has no 16-bit floats (`shader-f16`), which --f16 needs\nhelp: leave out --f16");
        }
        let [weights_file, tokenizer_file] = ["model.safetensors", "tokenizer.json"].map(|name| folder.join(name));
        for file in [&weights_file, &tokenizer_file] {
            if !file.is_file() {
                bail!(
                    "no model in `{}`: there is no file `{}`\nhelp: `cargo xtask minilm` fetches it; --model names \
                     another folder",
                    folder.display(),
                    file.display()
                );
            }
        }
        let tokens = Tokens::read(&tokenizer_file)?;
        let load = || {
            let bytes = fs::read(&weights_file)?;
            let weights = Weights::parse(&weights_file, &bytes)?;
            let vocabulary = tokens.vocabulary();
            let encoder: Box<dyn Encoder> = match precision {
                Precision::Single => Box::new(Model::load(&weights, vocabulary, &Upload { device, convert: |x| x })?),
                Precision::Half => {
                    Box::new(Model::load(&weights, vocabulary, &Upload { device, convert: f16::from_f32 })?)
                }
            };
            anyhow::Ok(encoder)
        };
        let encoder = load().with_context(|| format!("cannot load the model `{}`", weights_file.display()))?;
        Ok(Self { tokens, encoder })
    }

    /// The embedding of each text, of length 1. `done` is told of every batch how many texts it held.
    ///
    /// # Errors
    /// Those of the tokenizer, of launches and of readback.
    pub(crate) fn embed(&self, texts: &[String], mut done: impl FnMut(usize)) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut embeddings = vec![vec![]; texts.len()];
        let mut receive = |(texts, rows): (Vec<usize>, Tensor2<f32>)| {
            let values = rows.to_vec_blocking()?;
            for (&text, row) in texts.iter().zip(values.chunks(WIDTH)) {
                embeddings[text] = row.to_vec();
            }
            done(texts.len());
            anyhow::Ok(())
        };
        // The next batch is on its way to the device before the results of the last are waited for.
        let mut running = None;
        for batch in batches(&self.tokens.encode(texts)?) {
            let rows = self.encoder.encode(&batch)?;
            rows.device().submit()?;
            if let Some(earlier) = running.replace((batch.texts, rows)) {
                receive(earlier)?;
            }
        }
        running.map_or(Ok(()), receive)?;
        Ok(embeddings)
    }
}
