//! Pages: compiled, bound to scripts, and weighed as sent.
//!
//! `wasm-opt` is not used: it saves half a percent of the sent bytes, and version 108 (Debian 12) exports the wrong
//! table, so that modules fail to load.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail, ensure};
use fuse_page_server::compressed;

use super::{TARGET, imports, toolchain, tools};
use crate::{
    Access,
    folders::{root, target_folder},
    steps,
};

const PACKAGE: &str = "fuse-web-size";
/// Without ending.
const NAME: &str = "fuse_web_size";
const FILES: &str = "benches/web_size/page";
/// Module and script: the last accepted weight and a margin.
const MOST_BYTES: usize = 127_500;
/// Bounds and goals of what lazy tensors add: with functions compiled while the page was built, and with the compiler.
const LAZY: [(&str, usize, usize); 2] = [("auto", 66_000, 24 << 10), ("jit", 748_000, 512 << 10)];
const GOAL_BYTES: usize = 64 << 10;
/// Forbidden crates: the compiler, and parts of wgpu that browsers replace.
const FOREIGN: &[&str] = &["fuse-compiler", "naga", "wgpu-core", "wgpu-hal", "syn", "pollster"];

/// Builds and weighs the page, and returns its folder.
///
/// # Errors
/// If a tool is missing or fails, a module contains a forbidden crate, or the page is too heavy.
pub(crate) fn build(access: Access) -> anyhow::Result<PathBuf> {
    let toolchain = toolchain::ensure(access.install_policy())?;
    refuse_foreign(&toolchain.cargo(), access.offline)?;
    let built = |folder: &str, features: &str| -> anyhow::Result<PathBuf> {
        let arguments = format!("build --package {PACKAGE} --profile web --target {TARGET}{features}");
        steps::run(&[toolchain.step("page", &arguments)], access.offline)?;
        let folder = root().join("target/web").join(folder);
        let module = target_folder().join(TARGET).join("web").join(format!("{NAME}.wasm"));
        bind(access, &module, &folder, &root().join(FILES))?;
        Ok(folder)
    };
    let mut lazy = vec![];
    for (feature, most, goal) in LAZY {
        let folder = built(&format!("size-{feature}"), &format!(" --features {feature}"))?;
        lazy.push((feature, most, goal, print(&weights(&folder, NAME)?)));
    }
    // Last, because later steps need its module in the target folder.
    let folder = built("size", "")?;
    let total = judge(&weights(&folder, NAME)?)?;
    for (feature, most, goal, with) in lazy {
        let more = with.saturating_sub(total);
        let what = format!("with feature `{feature}`");
        println!("{what:32}{:>10}{more:>12} more of at most {most}; the goal is {goal}", "");
        ensure!(more <= most, "feature `{feature}` adds {more} bytes to a page, more than {most}");
    }
    Ok(folder)
}

/// Binds the module into a folder, with the page's files.
///
/// # Errors
/// If wasm-bindgen is missing or fails, or files cannot be written.
pub(crate) fn bind(access: Access, module: &Path, folder: &Path, files: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    tools::bind(module, folder, &["--remove-name-section"], access.install_policy())?;
    let name = module.file_stem().unwrap_or_default().to_string_lossy();
    shorten(&folder.join(format!("{name}_bg.wasm")), &folder.join(format!("{name}.js")))?;
    for entry in fs::read_dir(files).with_context(|| format!("cannot read `{}`", files.display()))? {
        let file = entry?.path();
        fs::copy(&file, folder.join(file.file_name().unwrap_or_default()))
            .with_context(|| format!("cannot copy `{}`", file.display()))?;
    }
    Ok(())
}

fn shorten(module: &Path, script: &Path) -> anyhow::Result<()> {
    let bytes = fs::read(module).with_context(|| format!("no `{}`", module.display()))?;
    let text = fs::read_to_string(script).with_context(|| format!("no `{}`", script.display()))?;
    let text = minifier::js::minify(&text).to_string();
    let (bytes, text) = imports::shorten(&bytes, &text).with_context(|| module.display().to_string())?;
    fs::write(module, bytes).with_context(|| format!("cannot write `{}`", module.display()))?;
    fs::write(script, text).with_context(|| format!("cannot write `{}`", script.display()))
}

fn weights(folder: &Path, name: &str) -> anyhow::Result<Vec<Weight>> {
    let files = [format!("{name}_bg.wasm"), format!("{name}.js")].map(|file| folder.join(file));
    files
        .iter()
        .map(|file| fs::read(file).with_context(|| format!("no `{}`", file.display())).map(|b| Weight::new(file, &b)))
        .collect()
}

/// Prints the weight of a page without a bound.
///
/// # Errors
/// If a file is missing.
pub(crate) fn print_weights(folder: &Path, name: &str) -> anyhow::Result<()> {
    let total = print(&weights(folder, name)?);
    println!("{:32}{:>10}{total:>12}", "together", "");
    Ok(())
}

struct Weight {
    file: String,
    raw: usize,
    compressed: usize,
}

impl Weight {
    fn new(file: &Path, bytes: &[u8]) -> Self {
        let file = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { file, raw: bytes.len(), compressed: compressed(bytes) }
    }
}

/// Returns the compressed total.
fn print(weights: &[Weight]) -> usize {
    println!("\n{:32}{:>10}{:>12}", "file", "bytes", "brotli 11");
    for Weight { file, raw, compressed } in weights {
        println!("{file:32}{raw:>10}{compressed:>12}");
    }
    weights.iter().map(|weight| weight.compressed).sum()
}

/// Prints sizes; returns the compressed total, or an error above the bound.
fn judge(weights: &[Weight]) -> anyhow::Result<usize> {
    let total = print(weights);
    println!("{:32}{:>10}{total:>12} of at most {MOST_BYTES}; the goal is {GOAL_BYTES}", "together", "");
    ensure!(total <= MOST_BYTES, "a page with three kernels weighs {total} bytes, more than {MOST_BYTES}");
    Ok(total)
}

const WITHOUT_COMPILER: &str = "auto,kernels,ndarray,tune,webgpu,webnn";

/// Builds with all features but the compiler must lack forbidden crates.
fn refuse_foreign(cargo: &Path, offline: bool) -> anyhow::Result<()> {
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(["tree", "--target", TARGET, "--edges", "normal,no-proc-macro"]);
    command.args([
        "--prefix",
        "none",
        "--package",
        "fuse-gpu",
        "--no-default-features",
        "--features",
        WITHOUT_COMPILER,
    ]);
    if offline {
        command.arg("--offline");
    }
    let output = command.output().context("cannot start `cargo tree`")?;
    ensure!(output.status.success(), "`cargo tree` failed: {}", String::from_utf8_lossy(&output.stderr));
    let found = foreign(&String::from_utf8_lossy(&output.stdout));
    if !found.is_empty() {
        bail!("modules for browsers would hold {}\nhelp: `cargo tree --target {TARGET}` says why", found.join(", "));
    }
    Ok(())
}

fn foreign(tree: &str) -> Vec<&'static str> {
    let crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    FOREIGN.iter().copied().filter(|foreign| crates.contains(foreign)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_pages_are_refused() {
        let weight = |compressed| Weight { file: "a.wasm".to_owned(), raw: 0, compressed };
        assert!(judge(&[weight(MOST_BYTES - 1), weight(1)]).is_ok());
        let text = judge(&[weight(MOST_BYTES), weight(1)]).unwrap_err().to_string();
        assert!(text.contains(&(MOST_BYTES + 1).to_string()), "{text}");
    }

    #[test]
    fn sizes_are_those_of_compressed_files() {
        assert!(compressed(&[7; 10_000]) < 50);
        assert_eq!(Weight::new(Path::new("folder/a.js"), b"x").file, "a.js");
    }

    #[test]
    fn foreign_crates_are_found_by_their_whole_names() {
        assert_eq!(foreign("fuse-gpu v0.1.0\nwgpu v30.0.1\nnaga-types v30.0.1\n"), [""; 0]);
        assert_eq!(foreign("fuse-gpu v0.1.0\nnaga v30.0.1 (*)\nsyn v3.0.9"), ["naga", "syn"]);
    }

    #[test]
    fn the_page_has_a_document() {
        let text = fs::read_to_string(root().join(FILES).join("index.html")).unwrap();
        assert!(text.contains(&format!("./{NAME}.js")), "the document loads the script");
    }
}
