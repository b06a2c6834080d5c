//! Errors of quantization: every bit width and scheme on the real all-MiniLM-L6-v2, as a table, a document and a plot.
//!
//! After `cargo xtask minilm`, `cargo run --release --example quantize_report -- --out docs` writes `quantization.md`
//! and `quantization.svg`. `--save FOLDER` keeps each width's best codes for `examples/minilm`.
//!
//! `try_all` runs the `cases`, `round` and `calibrate` quantize, `measure` compares, `report` and `plot` show results.

mod calibrate;
mod cases;
mod measure;
mod plot;
mod report;
mod round;
mod try_all;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use fuse_gpu::Device;
use fuse_quantize::Packing;

use cases::Case;

/// From `cargo xtask minilm`.
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/minilm");

/// Sentences to compare schemes on.
const EVALUATION: &str = include_str!("../data/quantize_evaluation.txt");

/// Distinct from the evaluation.
const CALIBRATION: &str = include_str!("../data/quantize_calibration.txt");

/// Calibration texts of random words.
const RANDOM: usize = 500;

/// Neither schemes nor anything in this program was chosen by these sentences.
const HELD_OUT: &str = include_str!("../data/quantize_held_out.txt");

/// Evaluation and calibration sentences with `--quick`.
const QUICK: (usize, usize) = (8, 8);

/// Weights of all-MiniLM-L6-v2 in 8, 4, 3, 2 and 1 bit: errors, embeddings and memory
#[derive(Parser)]
#[command(name = "quantize_report")]
struct Cli {
    /// The folder with `model.safetensors` and `tokenizer.json`
    #[arg(long, default_value = MODEL)]
    model: PathBuf,
    /// The folder that gets `quantization.md` and `quantization.svg`
    #[arg(long)]
    out: Option<PathBuf>,
    /// The folder that gets a file of codes for each width, `q8.safetensors` and so on: those of the best scheme that leaves
    /// the table of words as it is. `minilm --calibrated FILE` reads them
    #[arg(long)]
    save: Option<PathBuf>,
    /// Few sentences and schemes: whether everything works, not how well
    #[arg(long)]
    quick: bool,
    /// Only cases whose name contains this; several select those that match any
    #[arg(long)]
    filter: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    if let (Some(_), true) = (&cli.out, cli.quick || !cli.filter.is_empty()) {
        bail!("--out writes the whole report\nhelp: leave out --quick and --filter");
    }
    let cases: Vec<Case> = cases::all(cli.quick)
        .into_iter()
        .filter(|case| cli.filter.is_empty() || cli.filter.iter().any(|part| case.name().contains(part)))
        .collect();
    ensure!(!cases.is_empty(), "--filter: expected a part of a case's name, found {:?}", cli.filter);

    let read = |name: &str| -> anyhow::Result<(PathBuf, Vec<u8>)> {
        let path = cli.model.join(name);
        let help = "help: `cargo xtask minilm` fetches the model; --model names another folder";
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`\n{help}", path.display()))?;
        Ok((path, bytes))
    };
    let (weights, tokenizer) = (read("model.safetensors")?, read("tokenizer.json")?);
    let device = Device::blocking()?;
    let lines = |text: &str, quick: usize| -> Vec<String> {
        text.lines().take(if cli.quick { quick } else { usize::MAX }).map(str::to_owned).collect()
    };
    let evaluation = lines(EVALUATION, QUICK.0);
    let yardstick = measure::Yardstick::new(&device, &weights, &tokenizer, evaluation)?;
    let texts = calibrate::with_clauses(&lines(CALIBRATION, QUICK.1));
    let random = calibrate::random_texts(if cli.quick { QUICK.1 } else { RANDOM });
    let tokens = [yardstick.tokens(&texts)?, random].concat();
    let learning = calibrate::Reference::new(yardstick.model(), &tokens)?;

    let (mut results, mut on_device) = (vec![], BTreeMap::new());
    for (packing, width) in try_all::run(&cases, &yardstick, &learning)? {
        results.extend(width.outcomes);
        let Some((mean, quantized)) = width.best else { continue };
        if let Some(folder) = &cli.save {
            write(folder, &format!("{}.safetensors", packing.name()), quantized.file().to_bytes()?)?;
        }
        // On a software adapter, this takes most of a quick run; one width suffices.
        if cli.quick && packing != Packing::Q2 {
            continue;
        }
        let by_kernels = yardstick.on_device(&quantized, &lines(HELD_OUT, QUICK.0))?;
        let [(same, _), (others, worst)] = by_kernels;
        let name = packing.name();
        println!(
            "{name}: best mean {mean:.4}, by the kernels {same:.4}; of other sentences {others:.4}, worst {worst:.4}"
        );
        on_device.insert(packing, by_kernels);
    }
    if let Some(folder) = &cli.out {
        let about = report::About {
            adapter: device.info().name.clone(),
            evaluation: [EVALUATION.lines().count(), HELD_OUT.lines().count()],
            calibration: [CALIBRATION.lines().count(), texts.len(), RANDOM, learning.tokens()],
            host_distance: yardstick.host_distance(),
            on_device,
        };
        write(folder, "quantization.md", report::document(&about, &results))?;
        write(folder, "quantization.svg", plot::cosines(&results)?)?;
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let path = folder.join(name);
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}
