//! Opens a model's folder.

use std::{fs, path::Path};

use anyhow::{Context, anyhow, bail};
use fuse_gpu::Device;
use fuse_minilm_model::{Embedder, Precision, codes::Codes, tokens::Tokens, weights::Weights};

pub(crate) fn codes(file: &Path) -> anyhow::Result<Codes> {
    let help = "help: `quantize_report --save FOLDER` writes such files";
    let bytes = fs::read(file).map_err(|error| anyhow!("cannot read `{}`: {error}\n{help}", file.display()))?;
    Codes::parse(file, &bytes)
}

/// Opens a folder of `model.safetensors` and `tokenizer.json`. `codes` replace linear layers of the same number of
/// bits.
///
/// # Errors
/// If a file is missing or damaged, weights or codes are not those of all-MiniLM-L6-v2, or the device lacks a feature.
pub(crate) fn open(
    folder: &Path,
    codes: Option<Codes>,
    device: &Device,
    precision: Precision,
) -> anyhow::Result<Embedder> {
    if precision == Precision::Half && !device.info().features.f16 {
        let adapter = &device.info().name;
        bail!("adapter `{adapter}` has no 16-bit floats (`shader-f16`), which --f16 needs\nhelp: leave out --f16");
    }
    let files = ["model.safetensors", "tokenizer.json"].map(|name| folder.join(name));
    for file in &files {
        if !file.is_file() {
            bail!(
                "no model in `{}`: there is no file `{}`\nhelp: `cargo xtask minilm` fetches it; --model names \
                 another folder",
                folder.display(),
                file.display()
            );
        }
    }
    let read = |file: &Path| fs::read(file).with_context(|| format!("cannot read `{}`", file.display()));
    let [weights_file, tokenizer_file] = &files;
    let (weights, tokenizer) = (read(weights_file)?, read(tokenizer_file)?);
    let tokens = Tokens::parse(tokenizer_file, &tokenizer)?;
    let load = || {
        let mut weights = Weights::parse(weights_file, &weights)?;
        codes.map_or(Ok(()), |codes| weights.overlay(codes))?;
        Embedder::new(tokens, &weights, device, precision)
    };
    load().with_context(|| format!("cannot load the model `{}`", weights_file.display()))
}
