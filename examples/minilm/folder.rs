//! A model's folder, opened as one thing.

use std::{fs, path::Path};

use anyhow::{Context, bail};
use fuse_gpu::Device;
use fuse_minilm_model::{Embedder, Precision};

/// Opens the model in a folder that holds `model.safetensors` and `tokenizer.json`.
///
/// # Errors
/// If a file is missing or damaged, the weights are not those of all-MiniLM-L6-v2, or the device lacks what the
/// precision needs.
pub(crate) fn open(folder: &Path, device: &Device, precision: Precision) -> anyhow::Result<Embedder> {
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
    Embedder::load((weights_file, &weights), (tokenizer_file, &tokenizer), device, precision)
}
