//! `minilm verify`: compares embeddings with known ones.

use std::{fs, io::Write, path::Path};

use anyhow::{Context, bail};
use fuse_gpu::Device;
use fuse_minilm_model::{
    Embedder, Precision,
    encoder::{WIDTH, encoder_layer},
    ranking::{difference, larger},
};
use serde_json::Value;

#[derive(Debug, PartialEq)]
pub(crate) struct Known {
    text: String,
    embedding: Vec<f32>,
}

/// Reads known embeddings.
///
/// # Errors
/// If the file cannot be read, or is not a JSON array of `{"text": …, "embedding": […]}` with 384 numbers each.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Known>> {
    let about = || format!("cannot read embeddings `{}`", path.display());
    let text = fs::read_to_string(path).with_context(about)?;
    parse(&text).with_context(about)
}

fn parse(text: &str) -> anyhow::Result<Vec<Known>> {
    let value: Value = serde_json::from_str(text)?;
    let entries = value.as_array().context("expected a JSON array")?;
    if entries.is_empty() {
        bail!("expected at least one embedding");
    }
    entries.iter().enumerate().map(|(i, entry)| known(entry).with_context(|| format!("entry {i}"))).collect()
}

fn known(entry: &Value) -> anyhow::Result<Known> {
    let text = entry["text"].as_str().context("expected a string `text`")?.to_owned();
    let numbers = entry["embedding"].as_array().context("expected an array `embedding`")?;
    let embedding: Option<Vec<f32>> = numbers.iter().map(|x| x.as_f64().map(|x| x as f32)).collect();
    let embedding = embedding.filter(|embedding| embedding.len() == WIDTH);
    Ok(Known { text, embedding: embedding.with_context(|| format!("expected {WIDTH} numbers in `embedding`"))? })
}

/// Largest difference that rounding explains: 6 layers in this precision, against `f64`.
fn bound(precision: Precision) -> f32 {
    match precision {
        Precision::Single => 1e-5,
        Precision::Half => 5e-3,
        // Errors of plain rounding in docs/quantization.md, with margin: an embedding has 384 numbers of about 0.05.
        Precision::Quantized(8) => 5e-3,
        Precision::Quantized(4) => 5e-2,
        Precision::Quantized(_) => 0.3,
    }
}

pub(crate) fn run(
    device: &Device,
    embedder: &Embedder,
    precision: Precision,
    known: &[Known],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    writeln!(out, "adapter  {}\n\n{}", device.info(), encoder_layer::PLAN)?;
    let bound = bound(precision);
    writeln!(out, "largest difference from the known embedding (at most {bound:.0e} allowed)")?;
    let texts: Vec<String> = known.iter().map(|known| known.text.clone()).collect();
    let mut worst = 0.0;
    for (known, embedding) in known.iter().zip(pollster::block_on(embedder.embed(&texts, |_| {}))?) {
        let found = difference(&embedding, &known.embedding);
        let start: String = known.text.chars().take(60).collect();
        writeln!(out, "  {found:.1e}  {start}")?;
        worst = larger(worst, found);
    }
    // Fails for NaN.
    if worst <= bound {
        return Ok(());
    }
    bail!("embeddings differ from the known ones by {worst:.1e}, more than {bound:.0e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_a_file_name_the_entry() {
        let message = |text: &str| format!("{:#}", parse(text).unwrap_err());
        assert_eq!(message("{}"), "expected a JSON array");
        assert_eq!(message("[]"), "expected at least one embedding");
        assert_eq!(message(r#"[{"embedding": []}]"#), "entry 0: expected a string `text`");
        let short = r#"[{"text": "a", "embedding": [1, 2]}]"#;
        assert_eq!(message(short), "entry 0: expected 384 numbers in `embedding`");
    }
}
