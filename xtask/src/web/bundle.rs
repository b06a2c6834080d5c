//! `cargo xtask web bundle`: pages as files, for browsers on other machines.
//!
//! Output: a folder with kernel tests, measuring pages, a list of visits, and `drive.py`, which makes them and stores
//! JSON lines for `cargo xtask web bench --from` (`fuse-web-baselines kept`).

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::{
    TARGET,
    baselines::{self, Module},
    toolchain::{self, Toolchain},
    tools,
};
use crate::{Access, folders::root, minilm, rivals::commit, steps};

/// Makes the visits; needs only Python.
const DRIVER: &str = include_str!("drive.py");
/// Pages of the tests, and the script that reports.
const TEST_FILES: [&str; 5] = [
    "tests/web/page/index.html",
    "tests/web/page/worker.html",
    "tests/web/page/worker.js",
    "tests/web/page/tests.js",
    "benches/web_rivals/page/report.js",
];
/// With page and timeout in seconds.
const TESTS: [(&str, &str, u32); 2] = [("window", "index.html", 3600), ("worker", "worker.html", 600)];

/// Folder on the pages, with the file that they read.
const MODEL: &str = "minilm";
const WEIGHTS: &str = "model.safetensors";

#[derive(Args)]
pub(crate) struct Options {
    /// The kernel tests
    #[arg(long)]
    tests: bool,
    /// The pages that measure: beside other libraries, launches, variants and specializations, tables of a model, packings,
    /// matrices of 8 bits
    #[arg(long)]
    bench: bool,
    /// The folder; what is in it is removed
    #[arg(long, value_name = "DIR", default_value = "target/web/bundle")]
    out: PathBuf,
}

/// Writes the folder.
///
/// # Errors
/// If nothing is requested, a tool is missing or fails, or files cannot be written.
pub(crate) fn bundle(access: Access, options: &Options) -> anyhow::Result<()> {
    ensure!(options.tests || options.bench, "nothing to bundle\nhelp: `--tests`, `--bench` or both");
    let folder = root().join(&options.out);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    let mut visits = vec![];
    if options.tests {
        tests(access, &folder.join("tests"))?;
        visits.extend(
            TESTS
                .iter()
                .map(|(name, page, seconds)| visit(&format!("tests {name}"), &format!("tests/{page}"), *seconds)),
        );
    }
    if options.bench {
        let bench = folder.join("bench");
        baselines::assemble(access, &bench, &[Module::MiniLm, Module::Specializations, Module::Program])?;
        let model = bench.join(MODEL);
        fs::create_dir_all(&model).with_context(|| format!("cannot create `{}`", model.display()))?;
        copy(&minilm::fetched(access)?.join(WEIGHTS), &model.join(WEIGHTS))?;
        visits.extend(baselines::visits(access)?);
    }
    let list = json!({ "commit": commit(), "visits": visits });
    write(&folder.join("visits.json"), &format!("{list:#}\n"))?;
    write(&folder.join("drive.py"), DRIVER)?;
    println!("\n`{}` holds {} visits; there, `python3 drive.py BROWSER` makes them", folder.display(), visits.len());
    Ok(())
}

fn visit(name: &str, page: &str, seconds: u32) -> Value {
    json!({ "name": name, "page": page, "seconds": seconds })
}

/// Puts each test module and its script into a folder of its name, and adds the pages.
fn tests(access: Access, folder: &Path) -> anyhow::Result<()> {
    let toolchain = toolchain::ensure(access.install_policy())?;
    let modules = test_modules(&toolchain, access)?;
    for (name, _, _) in TESTS {
        let module = modules.iter().find(|module| is_of(module, name));
        let module = module.with_context(|| format!("cargo made no test program `{name}`"))?;
        tools::bind(module, &folder.join(name), &["--out-name", name], access.install_policy())?;
    }
    for file in TEST_FILES {
        let file = root().join(file);
        copy(&file, &folder.join(file.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Builds them first.
fn test_modules(toolchain: &Toolchain, access: Access) -> anyhow::Result<Vec<PathBuf>> {
    let arguments = format!("test --package fuse-test-web --target {TARGET} --test * --no-run");
    let step = toolchain.step("browser tests", &arguments);
    steps::run(std::slice::from_ref(&step), access.offline)?;
    // Builds nothing, but reports the file names.
    Ok(executables(&step.argument("--message-format=json").output(access.offline)?))
}

fn executables(messages: &str) -> Vec<PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    parsed.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()
}

/// Cargo appends a hash to the name.
fn is_of(module: &Path, name: &str) -> bool {
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-').is_some_and(|(of, _)| of == name)
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display())).map(drop)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_messages() {
        let messages = "{\"reason\": \"compiler-artifact\", \"executable\": null}\nnot JSON\n\
                        {\"reason\": \"compiler-artifact\", \"executable\": \"/t/window-0a1b.wasm\"}\n";
        let found = executables(messages);
        assert_eq!(found, [PathBuf::from("/t/window-0a1b.wasm")]);
        assert!(is_of(&found[0], "window") && !is_of(&found[0], "win") && !is_of(Path::new("window.wasm"), "window"));
    }

    #[test]
    fn the_files_exist() {
        assert!(TEST_FILES.iter().all(|file| root().join(file).is_file()));
    }
}
