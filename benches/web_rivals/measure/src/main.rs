//! Compares our kernels with TensorFlow.js and ONNX Runtime Web in the same browser and run, for `cargo xtask web
//! bench`.
//!
//! `packages` fetches libraries, `pages` assembles pages, `driver` starts browsers, `visit` serves a page and awaits
//! its result. `visits` lists visits on other machines, `kept` reports them. `lines` and `specializations` make results
//! and tuning tables.

mod checkout;
mod driver;
mod kept;
mod lines;
mod packages;
mod pages;
mod specializations;
mod visit;
mod visits;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::{Args, Parser};
use fuse_bench_results::{bars::Bars, line::Line, machine, results::Results, tables::Table};

use crate::{
    checkout::{Browser, root},
    driver::Driver,
    lines::First,
    visit::Site,
    visits::{FIRST, FIRST_ROUNDS, turns},
};

/// Products of 1024 take seconds on software adapters.
const MOST_TO_COMPARE: Duration = Duration::from_secs(3600);
const MOST_TO_FIRST: Duration = Duration::from_secs(300);

/// Measures beside other libraries in browsers
#[derive(Parser)]
enum Command {
    /// Put the pages' files into a folder
    Assemble {
        folder: PathBuf,
        /// With the libraries, which are fetched from npm if they are missing
        #[arg(long)]
        libraries: bool,
        /// Fetch nothing
        #[arg(long)]
        offline: bool,
    },
    /// Measure in a browser
    Bench(Options),
    /// Report what `drive.py` kept on another machine
    Kept {
        file: PathBuf,
        /// Write the results as JSON lines, and tuning tables, to this folder
        #[arg(long)]
        out: Option<PathBuf>,
    },
    /// Print the visits that measure, as JSON
    Visits,
}

#[derive(Args)]
struct Options {
    /// The folder of the pages, with our modules
    #[arg(long)]
    pages: PathBuf,
    /// The browser
    #[arg(long, value_enum)]
    browser: Browser,
    /// The program between this one and the browser
    #[arg(long)]
    driver: PathBuf,
    /// The adapter, as the system calls it
    #[arg(long)]
    adapter: Option<String>,
    /// The commit that is measured
    #[arg(long)]
    commit: String,
    /// Smaller sizes and fewer rounds
    #[arg(long)]
    quick: bool,
    /// Only cases whose name with size contains this, and nothing of first results
    #[arg(long)]
    filter: Option<String>,
    /// Measure variants and specializations, and make a tuning table
    #[arg(long)]
    specializations: bool,
    /// Write the results as JSON lines, or the tuning table, to this folder
    #[arg(long)]
    out: Option<PathBuf>,
    /// Fetch nothing
    #[arg(long)]
    offline: bool,
}

fn main() -> ExitCode {
    match run(Command::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Assemble { folder, libraries, offline } => pages::assemble(&folder, libraries, offline),
        Command::Bench(options) => bench(&options),
        Command::Kept { file, out } => kept::report(&file, out.as_deref()),
        Command::Visits => {
            println!("{}", serde_json::to_string(&visits::measurements())?);
            Ok(())
        }
    }
}

fn bench(options: &Options) -> anyhow::Result<()> {
    let weights = if options.specializations { vec![] } else { pages::weights(&options.pages, options.offline)? };
    let site = Site::open(options.pages.clone())?;
    let scratch = root().join("target/web/rivals/scratch");
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create `{}`", scratch.display()))?;
    let driver = Driver::start(options.browser, &options.driver, &scratch)?;
    let (version, said) = steady(&driver, &site, options)?;
    if options.specializations {
        let found = specializations::parse(said)?;
        let place = specializations::Place::software(options.browser, &version, options.adapter.as_deref());
        return specializations::report(&found, &place, options.out.as_deref());
    }
    let first = if options.filter.is_none() { first_results(&driver, &site, options.quick)? } else { vec![] };
    drop(driver);
    fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
    let place = lines::Place {
        browser: &version,
        adapter: options.adapter.as_deref(),
        host: &machine::host(),
        date: &machine::today(),
        commit: &options.commit,
    };
    let lines = lines::lines(lines::compared(said)?, &first, weights, &place)?;
    show(&lines, &Bars::load()?);
    match &options.out {
        Some(out) => store(&lines, out, options.browser.name()),
        None => Ok(()),
    }
}

fn steady(driver: &Driver, site: &Site, options: &Options) -> anyhow::Result<(String, serde_json::Value)> {
    let session = driver.session()?;
    let mut query = vec![];
    query.extend(options.quick.then(|| "quick".to_owned()));
    query.extend(options.filter.as_ref().map(|filter| format!("filter={}", escaped(filter))));
    query.extend(options.specializations.then(|| "specializations".to_owned()));
    let name = if options.specializations { "specializations" } else { "compare" };
    let page = format!("{name}.html?{}", query.join("&"));
    Ok((session.browser.clone(), site.visit(&session, &page, MOST_TO_COMPARE)?))
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// In freshly started browsers, in turns.
fn first_results(driver: &Driver, site: &Site, quick: bool) -> anyhow::Result<Vec<First>> {
    let mut all = FIRST.map(|(_, way)| First { way, milliseconds: vec![] });
    let rounds = if quick { 2 } else { FIRST_ROUNDS };
    println!("    first results, {rounds} rounds");
    for at in turns(rounds) {
        let session = driver.session()?;
        let page = format!("first.html?library={}", FIRST[at].0);
        let said = site.visit(&session, &page, MOST_TO_FIRST)?;
        let time = said["milliseconds"].as_f64();
        all[at].milliseconds.push(time.with_context(|| format!("`{page}` says no time"))?);
    }
    Ok(all.into())
}

fn show(lines: &[Line], bars: &Bars) {
    let mut results = Results::default();
    lines.iter().cloned().for_each(|line| results.add(line));
    println!("\n{}\n{}", Table::Runs.show(&results, bars), Table::Browsers.show(&results, bars));
    println!("{}\n{}", Table::Costs.show(&results, bars), Table::Suites.show(&results, bars));
}

/// The file is named after the browser.
fn store(lines: &[Line], out: &Path, browser: &str) -> anyhow::Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot create `{}`", out.display()))?;
    let text = lines.iter().map(|line| Ok(serde_json::to_string(line)? + "\n")).collect::<anyhow::Result<String>>()?;
    ensure!(!text.is_empty(), "nothing was measured");
    let path = out.join(format!("web-{browser}.jsonl"));
    fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_parts_of_addresses() {
        assert_eq!(escaped("relu(a & b)"), "relu%28a%20%26%20b%29");
    }
}
