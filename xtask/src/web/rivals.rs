//! `cargo xtask web bench`: kernels beside those of TensorFlow.js and ONNX Runtime Web, in the same browser and the same run.
//!
//! `packages` fetches the libraries, `driver` starts browsers, `visit` serves pages and hears what they say, `kept` reads what they
//! said on another machine, `lines` makes results of it, `specializations` tuning tables. What is measured, and how, is in
//! `benches/web_rivals`.

mod driver;
mod kept;
mod lines;
mod packages;
mod specializations;
mod visit;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use fuse_bench_results::{
    bars::Bars,
    line::{ALONE, Line, ONNX, OURS, TENSORFLOW, Weight},
    machine,
    results::Results,
    tables::Table,
};

use self::{
    driver::Driver,
    lines::First,
    packages::{PACKAGES, Package},
    visit::Site,
};
use super::{TARGET, browsers::Browser, page::compressed, toolchain, tools};
use crate::{
    Access,
    machine::{Machine, Vulkan},
    rivals::commit,
    steps::{self, root, target_folder},
};

/// The crate of the pages.
const PACKAGE: &str = "fuse-web-rivals";
/// Its module and its script, without ending.
const NAME: &str = "fuse_web_rivals";
/// The files of the pages that nothing makes.
const FILES: &str = "benches/web_rivals/page";
/// Visits of a page for its first result.
pub(super) const FIRST_ROUNDS: usize = 5;
/// How long a page may take that compares everything. Products of 1024 take seconds on software adapters.
const MOST_TO_COMPARE: Duration = Duration::from_secs(3600);
/// How long a page may take to its first result.
const MOST_TO_FIRST: Duration = Duration::from_secs(300);
/// Who has a first result: their names on pages, and in results.
pub(super) const FIRST: [(&str, &str); 4] = [("alone", ALONE), ("fuse", OURS), ("tfjs", TENSORFLOW), ("ort", ONNX)];

/// A module of ours. Variants and specializations by name are in one of their own, so that the other is as heavy as a program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Module {
    /// What any program would write.
    Program,
    /// The same, which knows variants and specializations by name.
    Specializations,
    /// A whole model.
    MiniLm,
}

impl Module {
    /// Where it and its script are on the pages.
    const fn folder(self) -> &'static str {
        match self {
            Self::Program => "fuse",
            Self::Specializations => "fuse-specializations",
            Self::MiniLm => "fuse-minilm",
        }
    }

    /// What cargo is told to build it with.
    const fn features(self) -> &'static str {
        match self {
            Self::Program => "",
            Self::Specializations => " --features specializations",
            Self::MiniLm => " --features minilm",
        }
    }
}

/// What to measure.
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

/// Builds the pages, fetches what they load, and measures in one browser or in all.
pub(crate) fn bench(access: Access, options: &Options) -> anyhow::Result<()> {
    if let Some(file) = &options.from {
        return kept::report(file, options.out.as_deref());
    }
    let policy = access.install_policy();
    let browsers = options.browser.map_or_else(|| Browser::value_variants().to_vec(), |browser| vec![browser]);
    let drivers = browsers.iter().map(|browser| browser.driver(policy)).collect::<anyhow::Result<Vec<_>>>()?;
    let module = if options.specializations { Module::Specializations } else { Module::Program };
    let pages = assemble(access, root().join("target/web/rivals/page"), &[module])?;
    let weights = if options.specializations { vec![] } else { weights(&pages)? };
    let site = Site::open(pages.folder)?;
    let commit = commit();
    let adapters = match Machine::probe().vulkan {
        Vulkan::Adapters(names) => names,
        Vulkan::NoLoader | Vulkan::NoAdapter => vec![],
    };
    let bars = Bars::load()?;
    for (&browser, program) in browsers.iter().zip(&drivers) {
        println!("\n==> {}", browser.name());
        let scratch = root().join("target/web/rivals/scratch");
        fs::create_dir_all(&scratch).with_context(|| format!("cannot create `{}`", scratch.display()))?;
        let driver = Driver::start(browser, program, &scratch)?;
        let (version, said) = steady(&driver, &site, options)?;
        if options.specializations {
            let found = specializations::parse(said)?;
            let place = specializations::Place::software(browser, &version, &adapters);
            specializations::report(&found, &place, options.out.as_deref())?;
            continue;
        }
        let first = if options.filter.is_none() { first_results(&driver, &site, options.quick)? } else { vec![] };
        drop(driver);
        fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
        let place = lines::Place {
            browser: &version,
            adapter: adapters.first().map(String::as_str),
            host: &machine::host(),
            date: &machine::today(),
            commit: &commit,
        };
        let lines = lines::lines(lines::compared(said)?, &first, weights.clone(), &place)?;
        show(&lines, &bars);
        if let Some(out) = &options.out {
            store(&lines, out, &browser.name().to_lowercase())?;
        }
    }
    Ok(())
}

/// Everything that the pages load.
pub(super) struct Pages {
    folder: PathBuf,
    /// The packages, and where their files came from.
    packages: Vec<(&'static Package, PathBuf)>,
}

/// Puts pages with these modules into a folder, with the rivals' libraries unless there are only specializations.
pub(super) fn assemble(access: Access, folder: PathBuf, modules: &[Module]) -> anyhow::Result<Pages> {
    let toolchain = toolchain::ensure(access.install_policy())?;
    let wanted = PACKAGES.iter().filter(|_| modules.contains(&Module::Program));
    let packages = wanted.map(|package| Ok((package, package.ensure(access)?))).collect::<anyhow::Result<Vec<_>>>()?;
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    for module in modules {
        let arguments = format!("build --package {PACKAGE} --profile web --target {TARGET}{}", module.features());
        steps::run(&[toolchain.step("pages", &arguments)], access.offline)?;
        let file = target_folder().join(TARGET).join("web").join(format!("{NAME}.wasm"));
        let ours = folder.join(module.folder());
        tools::bind(&file, &ours, &["--remove-name-section"], access.install_policy())?;
    }

    let names = fs::read_dir(root().join(FILES)).with_context(|| format!("cannot read `{FILES}`"))?;
    let names = names.map(|entry| Ok(entry?.file_name())).collect::<anyhow::Result<Vec<_>>>()?;
    for name in names {
        copy(&root().join(FILES).join(&name), &folder.join(&name))?;
    }
    for (package, files) in &packages {
        let into = folder.join(package.folder);
        fs::create_dir_all(&into).with_context(|| format!("cannot create `{}`", into.display()))?;
        for file in package.files {
            copy(&files.join(file), &into.join(file))?;
        }
    }
    Ok(Pages { folder, packages })
}

pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy `{}` to `{}`", from.display(), to.display())).map(drop)
}

/// What pages with each library must load: modules and scripts, without the pages' own.
fn weights(pages: &Pages) -> anyhow::Result<Vec<Weight>> {
    let ours = [format!("{NAME}_bg.wasm"), format!("{NAME}.js")];
    let bytes = |file: &String| {
        let path = pages.folder.join(Module::Program.folder()).join(file);
        let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok([bytes.len(), compressed(&bytes)].map(|length| length as u64))
    };
    let sizes = ours.iter().map(bytes).collect::<anyhow::Result<Vec<_>>>()?;
    let mut weights = vec![weight(OURS, ours.to_vec(), &sizes)];
    for (way, prefix) in [(TENSORFLOW, "tfjs"), (ONNX, "onnxruntime")] {
        let (mut files, mut sizes) = (vec![], vec![]);
        for (package, folder) in pages.packages.iter().filter(|(package, _)| package.folder.starts_with(prefix)) {
            for file in package.files {
                sizes.push(package.bytes(folder, file)?);
                files.push((*file).to_owned());
            }
        }
        weights.push(weight(way, files, &sizes));
    }
    Ok(weights)
}

fn weight(way: &str, files: Vec<String>, sizes: &[[u64; 2]]) -> Weight {
    let [raw, brotli] = [0, 1].map(|of| sizes.iter().map(|size| size[of]).sum());
    Weight { way: way.to_owned(), files, raw, brotli }
}

/// The browser's version, and what the page says that compares libraries, or specializations.
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

/// A text as part of an address.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Who of [`FIRST`] has turns, in so many rounds: each begins with another one.
pub(super) fn turns(rounds: usize) -> impl Iterator<Item = usize> {
    (0..rounds).flat_map(|round| (0..FIRST.len()).map(move |turn| (round + turn) % FIRST.len()))
}

/// The time to the first result of each library, in browsers that were just started, in turns.
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

/// Keeps lines in a folder, in a file that is named after the browser.
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
    fn every_way_has_a_page_and_a_script() {
        let files = root().join(FILES);
        assert!(files.join("compare.html").is_file() && files.join("first.html").is_file());
        for (name, way) in &FIRST[1..] {
            let script = fs::read_to_string(files.join(format!("{name}.js"))).unwrap();
            assert!(script.contains(&format!("export const way = \"{way}\";")), "{name}.js is not about {way}");
        }
        let script = fs::read_to_string(files.join("fuse.js")).unwrap();
        assert!(script.contains(&format!("/{NAME}.js`")), "the page loads our script");
        assert!(
            [Module::Program, Module::Specializations]
                .iter()
                .all(|module| script.contains(&format!("\"{}\"", module.folder())))
        );
    }

    #[test]
    fn filters_are_parts_of_addresses() {
        assert_eq!(escaped("relu(a & b)"), "relu%28a%20%26%20b%29");
    }
}
