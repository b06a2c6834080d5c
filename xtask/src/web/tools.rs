//! Programs besides the compiler: on the search path, or installed in `target/tools`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use crate::{
    folders::root,
    machine::find_program,
    prerequisites::{self, InstallPolicy, Need},
    steps::cargo,
};

pub(crate) struct CargoTool<'a> {
    pub(crate) package: &'static str,
    pub(crate) version: &'a str,
    /// Another version will do.
    pub(crate) any_version: bool,
    pub(crate) program: &'static str,
    /// Building most of these takes longer than they ever run.
    pub(crate) level: u8,
}

/// The locked version: others refuse the modules.
pub(crate) fn wasm_bindgen(program: &'static str, policy: InstallPolicy) -> anyhow::Result<PathBuf> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let version = locked_version(&lock, "wasm-bindgen").context("Cargo.lock names no wasm-bindgen")?;
    CargoTool { package: "wasm-bindgen-cli", version, any_version: false, program, level: 1 }.ensure(policy)
}

/// Binds a module to a script in a folder. `options` are added to the common ones.
///
/// # Errors
/// If wasm-bindgen is missing or fails, or the folder cannot be made.
pub(crate) fn bind(module: &Path, folder: &Path, options: &[&str], policy: InstallPolicy) -> anyhow::Result<()> {
    let program = wasm_bindgen("wasm-bindgen", policy)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    let options = ["--target", "web", "--no-typescript", "--remove-producers-section"].iter().chain(options);
    let (program, folder, module) = [program.as_path(), folder, module].map(|path| path.display().to_string()).into();
    let words = [program].into_iter().chain(options.map(|&option| option.to_owned()));
    prerequisites::run_all(&[words.chain(["--out-dir".to_owned(), folder, module]).collect()])
}

pub(crate) fn geckodriver(policy: InstallPolicy) -> anyhow::Result<PathBuf> {
    let (package, version, program) = ("geckodriver", "0.37.1", "geckodriver");
    CargoTool { package, version, any_version: true, program, level: 0 }.ensure(policy)
}

pub(crate) fn chromium(policy: InstallPolicy) -> anyhow::Result<(PathBuf, PathBuf)> {
    let need = |missing| Need {
        missing,
        purpose: "tests run in it",
        packages: |packages| packages.chromium,
        elsewhere: "install Chrome with chromedriver (https://googlechromelabs.github.io/chrome-for-testing)",
    };
    let browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let browser = prerequisites::ensure_program(&browsers, &need("Chromium is not installed"), policy)?;
    let driver = need("chromedriver is not installed");
    Ok((browser, prerequisites::ensure_program(&["chromedriver"], &driver, policy)?))
}

pub(crate) fn firefox(policy: InstallPolicy) -> anyhow::Result<PathBuf> {
    let need = Need {
        missing: "Firefox is not installed",
        purpose: "tests run in it",
        packages: |packages| packages.firefox,
        elsewhere: "install Firefox (https://www.mozilla.org/firefox)",
    };
    prerequisites::ensure_program(&["firefox", "firefox-esr"], &need, policy)
}

impl CargoTool<'_> {
    /// Installed to `target/tools` if missing.
    pub(crate) fn ensure(&self, policy: InstallPolicy) -> anyhow::Result<PathBuf> {
        let Self { package, version, program, .. } = self;
        let folder = root().join("target/tools").join(format!("{package}-{version}"));
        let ours = folder.join("bin").join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
        if let Some(found) = find_program(program).into_iter().chain([ours.clone()]).find(|path| self.fits(path)) {
            return Ok(found);
        }
        let missing = format!("{program} {version} is not installed");
        if let InstallPolicy::Refuse(flag) = policy {
            bail!(
                "{missing}, and {flag} forbids to install it\nhelp: run `cargo install {package} --version {version}`"
            );
        }
        println!("{missing}; building it, in about two minutes, to `{}`", folder.display());
        // The lock file's versions are tested, but a registry may lack them.
        if prerequisites::run_all(&[self.install(&folder, &["--locked"])]).is_err() {
            println!("not with the versions that {package} was locked with; trying newer ones");
            prerequisites::run_all(&[self.install(&folder, &[])])?;
        }
        if !self.fits(&ours) {
            bail!("{package} {version} is installed, but `{}` does not run", ours.display());
        }
        Ok(ours)
    }

    fn install(&self, folder: &Path, options: &[&str]) -> Vec<String> {
        let Self { package, version, level, .. } = self;
        let (cargo, folder) = (cargo().to_string_lossy().into_owned(), folder.display().to_string());
        let level = format!("profile.release.opt-level={level}");
        let words =
            [&cargo, "install", "--quiet", "--config", &level, package, "--version", version, "--root", &folder];
        words.iter().chain(options).map(|word| (*word).to_owned()).collect()
    }

    fn fits(&self, program: &Path) -> bool {
        let output = Command::new(program).arg("--version").output();
        let said = output.ok().filter(|output| output.status.success());
        let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        said.is_some_and(|said| self.any_version || said.split_whitespace().any(|word| word == self.version))
    }
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.nth(1)?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_lock_file() {
        let lock = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.1\"\n\n[[package]]\nname = \
                    \"wasm-bindgen\"\nversion = \"0.2.9\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen"), Some("0.2.9"));
        assert_eq!(locked_version(lock, "wasm"), None);
    }

    #[test]
    fn programs_of_other_versions_do_not_fit() {
        let tool =
            |version, any_version| CargoTool { package: "cargo", version, any_version, program: "cargo", level: 0 };
        let present = PathBuf::from(cargo());
        assert!(tool("0", true).fits(&present) && !tool("0", false).fits(&present));
        assert!(!tool("0", true).fits(Path::new("no such program")));
    }

    #[test]
    fn what_is_missing_is_named_where_nothing_may_be_installed() {
        let tool =
            CargoTool { package: "nothing", version: "7", any_version: false, program: "no-such-program", level: 0 };
        let text = tool.ensure(InstallPolicy::Refuse("--offline")).unwrap_err().to_string();
        assert!(text.contains("no-such-program 7 is not installed, and --offline forbids"), "{text}");
        assert!(text.contains("cargo install nothing --version 7"), "{text}");
        let words = tool.install(Path::new("there"), &["--locked"]).join(" ");
        assert!(words.ends_with("nothing --version 7 --root there --locked"), "{words}");
    }
}
