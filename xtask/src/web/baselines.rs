//! `cargo xtask web bench`: builds the modules of `benches/web_rivals` and starts `fuse-web-baselines`, which measures.

use std::{
    fs,
    path::{Path, PathBuf, absolute},
};

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use super::{
    TARGET,
    browsers::{self, Browser},
    toolchain, tools,
};
use crate::{
    Access,
    folders::{root, target_folder},
    machine::{Machine, Vulkan},
    rivals::commit,
    steps::{self, Step},
};

const PACKAGE: &str = "fuse-web-rivals";
/// Without ending.
const NAME: &str = "fuse_web_rivals";

/// Builds of our module. Names of variants are separate, so that the other weighs what a program's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Module {
    Program,
    Specializations,
    MiniLm,
}

impl Module {
    const fn folder(self) -> &'static str {
        match self {
            Self::Program => "fuse",
            Self::Specializations => "fuse-specializations",
            Self::MiniLm => "fuse-minilm",
        }
    }

    const fn features(self) -> &'static str {
        match self {
            Self::Program => "",
            Self::Specializations => " --features specializations",
            Self::MiniLm => " --features minilm",
        }
    }
}

/// Options of a measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Only in this browser
    #[arg(long, value_enum)]
    browser: Option<Browser>,
    /// Smaller sizes and fewer rounds
    #[arg(long)]
    quick: bool,
    /// Write the results as JSON lines, or the tuning table, to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Instead of rivals, measure every variant of our kernels and every specialization, and make a tuning table of the browser's adapter
    #[arg(long)]
    specializations: bool,
    /// Only cases whose name with size contains this, and nothing of first results
    #[arg(long)]
    filter: Option<String>,
    /// Measure nothing: report what `drive.py` of `cargo xtask web bundle` kept in this file on another machine
    #[arg(long, value_name = "FILE", conflicts_with_all = ["browser", "quick", "specializations", "filter"])]
    from: Option<PathBuf>,
}

pub(crate) fn bench(access: Access, options: &Options) -> anyhow::Result<()> {
    let out = options.out.as_ref().map(absolute).transpose()?;
    let with_out = |step: Step| match &out {
        Some(out) => step.argument("--out").argument(out),
        None => step,
    };
    if let Some(file) = &options.from {
        let step = program("report", "kept").argument(absolute(file)?);
        return steps::run(&[with_out(step)], access.offline);
    }
    let drivers = browsers::drivers(options.browser, access.install_policy())?;
    let module = if options.specializations { Module::Specializations } else { Module::Program };
    let pages = root().join("target/web/rivals/page");
    assemble(access, &pages, &[module])?;
    let adapter = match Machine::probe().vulkan {
        Vulkan::Adapters(names) => names.into_iter().next(),
        Vulkan::NoLoader | Vulkan::NoAdapter => None,
    };
    let commit = commit();
    let measure = |(browser, driver): &(Browser, PathBuf)| {
        let step = program(browser.name(), "bench --browser").argument(browser.name().to_lowercase());
        let mut step = step.argument("--driver").argument(driver).argument("--pages").argument(&pages);
        step = step.argument("--commit").argument(&commit);
        for (name, value) in [("--adapter", &adapter), ("--filter", &options.filter)] {
            if let Some(value) = value {
                step = step.argument(name).argument(value);
            }
        }
        let flags =
            [("--quick", options.quick), ("--specializations", options.specializations), ("--offline", access.offline)];
        with_out(flags.into_iter().filter(|(_, given)| *given).fold(step, |step, (flag, _)| step.argument(flag)))
    };
    steps::run(&drivers.iter().map(measure).collect::<Vec<_>>(), access.offline)
}

fn program(name: &'static str, arguments: &str) -> Step {
    Step::new(name, &format!("run --quiet --package fuse-web-baselines -- {arguments}"))
}

/// Only [`Module::Program`] includes libraries.
pub(super) fn assemble(access: Access, folder: &Path, modules: &[Module]) -> anyhow::Result<()> {
    let toolchain = toolchain::ensure(access.install_policy())?;
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    let mut files = program("pages", "assemble").argument(folder);
    if modules.contains(&Module::Program) {
        files = files.argument("--libraries");
    }
    if access.offline {
        files = files.argument("--offline");
    }
    steps::run(&[files], access.offline)?;
    for module in modules {
        let arguments = format!("build --package {PACKAGE} --profile web --target {TARGET}{}", module.features());
        steps::run(&[toolchain.step("modules", &arguments)], access.offline)?;
        let file = target_folder().join(TARGET).join("web").join(format!("{NAME}.wasm"));
        tools::bind(&file, &folder.join(module.folder()), &["--remove-name-section"], access.install_policy())?;
    }
    Ok(())
}

pub(super) fn visits(access: Access) -> anyhow::Result<Vec<Value>> {
    let text = program("visits", "visits").output(access.offline)?;
    serde_json::from_str(&text).context("the visits are no JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_load_our_modules() {
        let script = fs::read_to_string(root().join("benches/web_rivals/page/fuse.js")).unwrap();
        let modules = [Module::Program, Module::Specializations];
        assert!(modules.iter().all(|module| script.contains(&format!("\"{}\"", module.folder()))));
    }
}
