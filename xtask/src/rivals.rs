//! Programs of `benches/rivals`: which can run here, and their runs. A missing baseline is reported with its
//! requirements; the benchmark needs none.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use crate::{folders::root, steps::cargo};

/// A workspace of its own.
const BURN: &str = "benches/rivals/burn";

pub(crate) struct Rival {
    pub(crate) name: &'static str,
    file: &'static str,
    program: PathBuf,
    arguments: Vec<PathBuf>,
}

/// Present baselines, and why others are not. `build` builds Burn's program first.
pub(crate) fn present(build: bool) -> anyhow::Result<(Vec<Rival>, Vec<String>)> {
    let (mut rivals, mut absent) = (vec![], vec![]);
    match python_with_torch() {
        Some(python) => rivals.push(Rival {
            name: "PyTorch",
            file: "pytorch.jsonl",
            program: python.into(),
            arguments: vec![root().join("benches/rivals/pytorch.py")],
        }),
        None => absent.push("PyTorch: no python3 here has the module torch with a CUDA device".to_owned()),
    }
    if build {
        build_burn()?;
    }
    let binary = burn_binary();
    if binary.is_file() {
        rivals.push(Rival { name: "Burn", file: "burn.jsonl", program: binary, arguments: vec![] });
    } else {
        absent.push(format!("Burn: `{}` is not built; `--burn` builds it, in a quarter of an hour", binary.display()));
    }
    Ok((rivals, absent))
}

fn burn_binary() -> PathBuf {
    let name = format!("fuse-rival-burn{}", std::env::consts::EXE_SUFFIX);
    root().join(BURN).join("target/release").join(name)
}

fn build_burn() -> anyhow::Result<()> {
    let mut command = Command::new(cargo());
    // Separate from this project's target folder.
    command.current_dir(root().join(BURN)).env_remove("CARGO_TARGET_DIR").args(["build", "--release", "--locked"]);
    println!("\n==> build Burn: cargo build --release --locked, in {BURN}");
    let status = command.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("building Burn failed ({status})");
    }
    Ok(())
}

fn python_with_torch() -> Option<&'static str> {
    let test = "import sys, torch; sys.exit(not torch.cuda.is_available())";
    ["python3", "python"].into_iter().find(|program| {
        let mut command = Command::new(program);
        command.args(["-c", test]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

impl Rival {
    /// Returns the file of results.
    pub(crate) fn run(&self, quick: bool, filter: &[String], commit: &str, out: &Path) -> anyhow::Result<PathBuf> {
        let file = out.join(self.file);
        println!("\n==> {}: {}", self.name, self.program.display());
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg("--json").arg(&file).env("FUSE_COMMIT", commit);
        command.args(quick.then_some("--quick"));
        for filter in filter {
            command.arg("--filter").arg(filter);
        }
        let status = command.status().with_context(|| format!("cannot start `{}`", self.program.display()))?;
        if !status.success() {
            bail!("{} failed ({status})", self.name);
        }
        Ok(file)
    }
}

/// With `-dirty` for uncommitted changes; `unknown` outside of git.
pub(crate) fn commit() -> String {
    let describe = ["describe", "--always", "--dirty", "--exclude", "*"];
    let output = Command::new("git").current_dir(root()).args(describe).stderr(Stdio::null()).output();
    let commit = output.ok().filter(|output| output.status.success());
    let commit = commit.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    commit.filter(|commit| !commit.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_rivals_exist() {
        assert!(root().join("benches/rivals/pytorch.py").is_file());
        assert!(root().join(BURN).join("Cargo.lock").is_file(), "`--locked` wants a lock file");
        let manifest = std::fs::read_to_string(root().join(BURN).join("Cargo.toml")).unwrap();
        let name = burn_binary().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(manifest.contains(&format!("name = \"{name}\"")), "no package `{name}`");
    }
}
