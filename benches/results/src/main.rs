//! `cargo xtask report`: shows and stores files of results, and generates the document of the stored ones.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, ensure};
use clap::Parser;
use fuse_bench_results::{bars::Bars, document, figures, results::Results, tables::Table};

/// Shows results of the benchmark. Without files, writes docs/performance.md and its plots from what docs/results holds.
#[derive(Parser)]
#[command(name = "cargo xtask report")]
struct Options {
    /// Files of JSON lines, as `cargo xtask bench --out` writes them; shown together
    files: Vec<PathBuf>,
    /// Keep the files, joined, as docs/results/NAME.jsonl, and write the document
    #[arg(long, value_name = "NAME", requires = "files")]
    store: Option<String>,
    /// Write the lines of all files, one file after another, to this one
    #[arg(long, value_name = "FILE", requires = "files")]
    join: Option<PathBuf>,
    /// Write the plots of the files to this folder
    #[arg(long, value_name = "FOLDER", requires = "files")]
    plots: Option<PathBuf>,
    /// Change nothing; fail if the document differs from what the stored results say
    #[arg(long, conflicts_with = "files")]
    check: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.check {
        let differences = document::differences(root()).map_err(chain)?;
        return match differences.is_empty() {
            true => Ok(()),
            false => Err(format!("{} differ; run `cargo xtask report`", differences.join(", ")).into()),
        };
    }
    if !options.files.is_empty() {
        let text = joined(&options.files).map_err(chain)?;
        let (results, bars) = (Results::parse(&text).map_err(chain)?, Bars::load().map_err(chain)?);
        for text in Table::ALL.map(|table| table.show(&results, &bars)).iter().filter(|text| !text.is_empty()) {
            println!("{text}");
        }
        if let Some(path) = &options.join {
            fs::write(path, &text).map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        }
        if let Some(folder) = &options.plots {
            fs::create_dir_all(folder)?;
            for figure in figures::all(&results, &bars)? {
                let path = folder.join(format!("{}.svg", figure.name));
                fs::write(&path, figure.svg)?;
                println!("wrote {}", path.display());
            }
        }
        match &options.store {
            Some(name) => store(name, &text).map_err(chain)?,
            None => return Ok(()),
        }
    }
    for path in document::write(root()).map_err(chain)? {
        println!("changed: {path}");
    }
    Ok(())
}

/// The error with its causes.
fn chain(error: anyhow::Error) -> Box<dyn Error> {
    format!("{error:#}").into()
}

fn joined(files: &[PathBuf]) -> anyhow::Result<String> {
    let mut text = String::new();
    for path in files {
        document::read(path)?;
        text += fs::read_to_string(path)?.trim_end();
        text.push('\n');
    }
    Ok(text)
}

fn store(name: &str, text: &str) -> anyhow::Result<()> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    ensure!(plain, "`{name}` is no name of results: letters, digits, `-` and `_` only");
    let folder = root().join(document::RESULTS);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{name}.jsonl")), text).with_context(|| format!("cannot store `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_joined_line_by_line() {
        let folder = std::env::temp_dir().join(format!("fuse-results-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let stored = root().join(document::RESULTS).join("h200.jsonl");
        let line = fs::read_to_string(stored).unwrap().lines().next().unwrap().to_owned();
        let files = ["a", "b"].map(|name| folder.join(name));
        fs::write(&files[0], format!("{line}\n{line}\n")).unwrap();
        fs::write(&files[1], &line).unwrap();
        assert_eq!(joined(&files).unwrap(), format!("{line}\n{line}\n{line}\n"));
        assert!(joined(&[folder.join("missing")]).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
