//! The command line.

use std::{ffi::OsString, io::Write, path::PathBuf};

use clap::{Parser, Subcommand};
use fuse_gpu::Device;
use fuse_minilm_model::Precision;

use super::{embed, folder, lines, search, verify};

/// From `cargo xtask minilm`.
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/minilm");

/// Sentence embeddings with all-MiniLM-L6-v2 on the GPU
#[derive(Parser)]
#[command(name = "minilm")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The folder with `model.safetensors` and `tokenizer.json`
    #[arg(long, global = true, default_value = MODEL)]
    model: PathBuf,
    /// Weights and activations in 16-bit floats; needs an adapter with `shader-f16`
    #[arg(long, global = true)]
    f16: bool,
    /// Bits of the weights of linear layers: 8, 4, 3, 2 or 1
    #[arg(long, global = true, conflicts_with = "f16", value_parser = ["8", "4", "3", "2", "1"])]
    bits: Option<String>,
    /// A file of codes in place of the weights of linear layers, as `quantize_report --save` writes it
    #[arg(long, global = true, conflicts_with_all = ["f16", "bits"])]
    calibrated: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Print the embedding of each line
    Embed {
        /// A file with one text a line; `-` is the standard input
        file: PathBuf,
        /// JSON lines `{"text": …, "embedding": […]}` instead of a form for people
        #[arg(long)]
        json: bool,
    },
    /// Rank the lines of a file by their similarity to a query
    Search {
        /// What to look for
        query: String,
        /// A file with one text a line; `-` is the standard input
        file: PathBuf,
        /// How many lines to print
        #[arg(long, default_value_t = 5)]
        top: usize,
    },
    /// Compare embeddings with known ones, and say how close they are
    Verify {
        /// A JSON array of `{"text": …, "embedding": […]}`
        file: PathBuf,
    },
}

/// Runs a command line, program name first, and writes results to `out`.
///
/// # Errors
/// A [`clap::Error`] if it does not parse or asks for help, and errors of commands.
pub(crate) fn run(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let Cli { command, model, f16, bits, calibrated } = Cli::try_parse_from(words)?;
    let codes = calibrated.map(|file| folder::codes(&file)).transpose()?;
    let bits = bits.map(|bits| bits.parse()).transpose()?.or_else(|| Some(codes.as_ref()?.packing.bits()));
    let precision = match bits {
        Some(bits) => Precision::Quantized(bits),
        None if f16 => Precision::Half,
        None => Precision::Single,
    };
    let open = || {
        let device = Device::blocking()?;
        folder::open(&model, codes, &device, precision).map(|embedder| (device, embedder))
    };
    match command {
        Command::Embed { file, json } => {
            let lines = lines::read(&file)?;
            embed::run(&open()?.1, &lines, json, out)
        }
        Command::Search { query, file, top } => {
            let lines = lines::read(&file)?;
            search::run(&open()?.1, &query, &lines, top, out)
        }
        Command::Verify { file } => {
            let expected = verify::read(&file)?;
            let (device, embedder) = open()?;
            verify::run(&device, &embedder, precision, &expected, out)
        }
    }
}
