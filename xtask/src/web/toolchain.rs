//! Rust for WebAssembly: the present toolchain if it has or can add the target, otherwise the distribution's with the
//! standard library's sources.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::TARGET;
use crate::{
    machine::find_program,
    prerequisites::{self, InstallPolicy, Need},
    steps::{Step, cargo},
};

const DISTRIBUTION: &str = "/usr/bin";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// Runs this program.
    Present,
    /// In this folder; also compiles the standard library.
    Distribution(PathBuf),
}

pub(crate) fn ensure(policy: InstallPolicy) -> anyhow::Result<Toolchain> {
    if has_target()? {
        return Ok(Toolchain::Present);
    }
    println!("the Rust toolchain has no target {TARGET}");
    let add = ["rustup", "target", "add", TARGET].map(str::to_owned).to_vec();
    if find_program("rustup").is_some() && policy == InstallPolicy::Allow {
        match prerequisites::run_all(&[add]) {
            Ok(()) if has_target()? => return Ok(Toolchain::Present),
            Ok(()) => println!("rustup added it to another toolchain than the one that runs this"),
            Err(error) => println!("rustup cannot add it ({error}); the distribution's toolchain takes its place"),
        }
    }
    let folder = Path::new(DISTRIBUTION);
    if sources(folder).is_none() {
        prerequisites::install(&need(), policy)?;
        // Outside Debian, packages add the target to the distribution's toolchain.
        if has_target()? {
            return Ok(Toolchain::Present);
        }
    }
    match sources(folder) {
        Some(sources) => println!("standard library: compiled from `{}`", sources.display()),
        None => bail!("`{DISTRIBUTION}/rustc` has no sources of the standard library\nhelp: {}", need().elsewhere),
    }
    Ok(Toolchain::Distribution(folder.to_owned()))
}

fn need() -> Need {
    Need {
        missing: "no Rust toolchain here compiles to WebAssembly",
        purpose: "browsers run nothing else",
        packages: |packages| packages.wasm_rust,
        elsewhere: "install Rust with rustup, and run `rustup target add wasm32-unknown-unknown`",
    }
}

fn has_target() -> anyhow::Result<bool> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = sysroot(Path::new(&rustc)).context("cannot ask `rustc` for its folder")?;
    Ok(sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

/// For the toolchain in this folder.
fn sources(programs: &Path) -> Option<PathBuf> {
    if !programs.join("cargo").is_file() {
        return None;
    }
    let sources = sysroot(&programs.join("rustc"))?.join("lib/rustlib/src/rust/library");
    sources.join("std/Cargo.toml").is_file().then_some(sources)
}

fn sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

impl Toolchain {
    pub(crate) fn step(&self, name: &'static str, arguments: &str) -> Step {
        let step = Step::new(name, arguments);
        let Self::Distribution(folder) = self else { return step };
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(std::iter::once(folder.clone()).chain(env::split_paths(&path)));
        let path = path.map_or_else(|_| folder.display().to_string(), |path| path.to_string_lossy().into_owned());
        step.set("PATH", path)
            .set("RUSTC", folder.join("rustc").display().to_string())
            // Building the standard library is unstable; the distribution's compiler is stable.
            .set("RUSTC_BOOTSTRAP", "1")
            .set("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
            .set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld")
            .by(folder.join("cargo"))
    }

    pub(crate) fn cargo(&self) -> PathBuf {
        match self {
            Self::Present => cargo().into(),
            Self::Distribution(folder) => folder.join("cargo"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_compiles_its_own_standard_library() {
        let step = Toolchain::Distribution("/somewhere".into()).step("page", "build");
        let value = |name| step.environment.iter().find(|(known, _)| *known == name).unwrap().1.as_deref().unwrap();
        assert_eq!(value("RUSTC"), "/somewhere/rustc");
        assert!(value("PATH").starts_with("/somewhere"));
        assert_eq!(step.program.as_deref(), Some(Path::new("/somewhere/cargo")));
        assert_eq!(Toolchain::Present.step("page", "build").environment, []);
    }

    #[test]
    fn folders_without_a_toolchain_have_no_sources() {
        assert_eq!(sources(Path::new("/no such folder")), None);
    }
}
