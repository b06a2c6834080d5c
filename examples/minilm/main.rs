//! Sentence embeddings with all-MiniLM-L6-v2, every kernel compiled by `fuse!`: text in, embedding out.
//!
//! `cargo xtask minilm` fetches the model; then `cargo run --example minilm -- search "who plays music?" FILE`.
//!
//! Data flows one way: lines of a file (`lines`) -> tokens (`tokens`) -> padded batches (`batch`) -> launches (`model`,
//! with the kernels of `encoder` and the weights of `weights`) -> embeddings in the order of the texts (`embedder`),
//! which `embed` prints, `search` ranks and `verify` compares with known ones, as `cli` was asked to.

mod batch;
mod cli;
mod embed;
mod embedder;
mod encoder;
mod lines;
mod model;
mod search;
mod tokens;
mod verify;
mod weights;

use std::{io, process::ExitCode};

fn main() -> ExitCode {
    match cli::run(std::env::args_os(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output had enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<clap::Error>() {
            Some(error) => error.exit(),
            None => {
                eprintln!("error: {error:#}");
                ExitCode::FAILURE
            }
        },
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
