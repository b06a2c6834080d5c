//! Sentence embeddings with all-MiniLM-L6-v2, every kernel compiled by `fuse!`: text in, embedding out.
//!
//! After `cargo xtask minilm`: `cargo run --example minilm -- search "who plays music?" FILE`. The model is in
//! `examples/minilm_model`; this program reads files (`lines`, `folder`) and has the commands `embed`, `search` and
//! `verify`.

mod cli;
mod embed;
mod folder;
mod lines;
mod search;
mod verify;

use std::{io, process::ExitCode};

fn main() -> ExitCode {
    match cli::run(std::env::args_os(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe, as `head` does.
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
