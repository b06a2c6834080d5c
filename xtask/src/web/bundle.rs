//! `cargo xtask web bundle`: pages as files, for browsers on machines that have nothing else.
//!
//! Output: a folder with the kernel tests, the pages that measure, a list of visits, and `drive.py`, which makes them and keeps what
//! pages say as JSON lines. `cargo xtask web bench --from` reads these (`rivals::kept`).

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::{
    TARGET,
    rivals::{self, FIRST, FIRST_ROUNDS, Module},
    toolchain::{self, Toolchain},
    tools,
};
use crate::{
    Access, minilm,
    rivals::commit,
    steps::{self, root},
};

/// What makes the visits, with Python and nothing else.
const DRIVER: &str = include_str!("drive.py");
/// The files around the tests' modules, and the script by which pages say what they found.
const TEST_FILES: [&str; 5] = [
    "tests/web/page/index.html",
    "tests/web/page/worker.html",
    "tests/web/page/worker.js",
    "tests/web/page/tests.js",
    "benches/web_rivals/page/report.js",
];
/// The test programs, with the page of each and the seconds that it may take.
const TESTS: [(&str, &str, u32); 2] = [("window", "index.html", 3600), ("worker", "worker.html", 600)];

/// Where pages look for the model, and the file of it that they read.
const MODEL: &str = "minilm";
const WEIGHTS: &str = "model.safetensors";

/// What to put into the folder.
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

/// Makes the folder.
///
/// # Errors
/// When nothing is asked for, when a tool is missing or fails, and when files cannot be written.
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
        rivals::assemble(access, bench.clone(), &[Module::MiniLm, Module::Specializations, Module::Program])?;
        let model = bench.join(MODEL);
        fs::create_dir_all(&model).with_context(|| format!("cannot create `{}`", model.display()))?;
        rivals::copy(&minilm::fetched(access)?.join(WEIGHTS), &model.join(WEIGHTS))?;
        visits.extend(measurements());
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

/// The visits that measure. First results are in turns, each in a browser that was just started.
fn measurements() -> Vec<Value> {
    let mut visits = vec![
        visit("compare", "bench/compare.html?large", 3600),
        visit("launches", "bench/launches.html", 300),
        visit("minilm", "bench/minilm.html", 900),
        visit("packing", "bench/packing.html", 300),
        visit("eight bits", "bench/eight_bits.html", 300),
        visit("tune", "bench/tune.html", 900),
    ];
    for at in rivals::turns(FIRST_ROUNDS) {
        let (library, _) = FIRST[at];
        visits.push(visit(&format!("first {library}"), &format!("bench/first.html?library={library}"), 300));
    }
    for (name, more) in [("specializations", ""), ("held out", "&held_out"), ("f16", "&f16")] {
        visits.push(visit(name, &format!("bench/specializations.html?specializations&large{more}"), 3600));
    }
    visits
}

/// The tests' modules, each with its script in a folder of its name, and the pages around them.
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
        rivals::copy(&file, &folder.join(file.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// The test programs of `tests/web`, as cargo names them when it has built them.
fn test_modules(toolchain: &Toolchain, access: Access) -> anyhow::Result<Vec<PathBuf>> {
    let arguments = format!("test --package fuse-test-web --target {TARGET} --test * --no-run");
    let step = toolchain.step("browser tests", &arguments);
    steps::run(std::slice::from_ref(&step), access.offline)?;
    // Once more, now that there is nothing to build, for the names.
    Ok(executables(&step.argument("--message-format=json").output(access.offline)?))
}

/// The programs in cargo's messages.
fn executables(messages: &str) -> Vec<PathBuf> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    parsed.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()
}

/// Whether a file is the test program of this name: cargo adds a hash.
fn is_of(module: &Path, name: &str) -> bool {
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-').is_some_and(|(of, _)| of == name)
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
    fn the_files_exist_and_every_way_is_visited_as_often() {
        assert!(TEST_FILES.iter().all(|file| root().join(file).is_file()));
        let visits = measurements();
        for (library, _) in FIRST {
            let of = |visit: &&Value| visit["name"] == format!("first {library}");
            assert_eq!(visits.iter().filter(of).count(), FIRST_ROUNDS);
        }
        let pages = visits.iter().filter_map(|visit| visit["page"].as_str()?.strip_prefix("bench/")?.split('?').next());
        assert!(pages.into_iter().all(|page| root().join("benches/web_rivals/page").join(page).is_file()));
    }
}
