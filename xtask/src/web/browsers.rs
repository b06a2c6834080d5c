//! Tests of `tests/web` in headless browsers, with software adapters where there is no GPU.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::ValueEnum;

use super::{TARGET, toolchain, tools};
use crate::{
    Access,
    folders::root,
    prerequisites,
    prerequisites::InstallPolicy,
    steps::{self, Step},
};

pub(crate) const CAPABILITIES: &str = "tests/web/webdriver.json";
/// Software adapters compile slowly.
const TEST_SECONDS: &str = "600";
const DRIVER_SECONDS: &str = "60";

/// Browser for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Browser {
    /// Chromium or Chrome, whose software adapter is SwiftShader
    Chromium,
    /// Firefox, on Mesa's software adapter
    Firefox,
}

/// Installs prerequisites first.
pub(crate) fn test(
    access: Access,
    browser: Option<Browser>,
    thorough: bool,
    filter: Option<String>,
) -> anyhow::Result<()> {
    let policy = access.install_policy();
    let toolchain = toolchain::ensure(policy)?;
    let runner = tools::wasm_bindgen("wasm-bindgen-test-runner", policy)?;
    let drivers = drivers(browser, policy)?;
    let scratch = scratch()?;

    let arguments = format!("test --package fuse-test-web --target {TARGET} --test *");
    let step = |name, rest: &str| {
        let step = toolchain.step(name, &format!("{arguments} {rest}"));
        let step = if thorough { step.set("FUSE_THOROUGH", "1") } else { step };
        step.set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner.display().to_string())
    };
    let mut all = vec![step("browser tests", "--no-run")];
    for (browser, driver) in &drivers {
        let step =
            step(browser.name(), "--no-fail-fast").argument("--").argument(filter.as_deref().unwrap_or_default());
        all.push(browser.drive(step, driver, &scratch));
    }
    let outcome = steps::run_timed(&all, access.offline, false);
    fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
    outcome
}

/// Drivers of one browser or all; installed if missing.
pub(crate) fn drivers(browser: Option<Browser>, policy: InstallPolicy) -> anyhow::Result<Vec<(Browser, PathBuf)>> {
    let browsers = browser.map_or_else(|| Browser::value_variants().to_vec(), |browser| vec![browser]);
    browsers.into_iter().map(|browser| Ok((browser, browser.driver(policy)?))).collect()
}

/// Profiles that drivers leave behind.
pub(crate) fn scratch() -> anyhow::Result<PathBuf> {
    let scratch = root().join("target/web/profiles");
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create `{}`", scratch.display()))?;
    Ok(scratch)
}

impl Browser {
    pub(crate) fn page_step(self) -> &'static str {
        match self {
            Self::Chromium => "page in Chromium",
            Self::Firefox => "page in Firefox",
        }
    }

    /// Its lower case is the option on command lines.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::Firefox => "Firefox",
        }
    }

    pub(super) fn driver(self, policy: InstallPolicy) -> anyhow::Result<PathBuf> {
        match self {
            Self::Chromium => tools::chromium(policy).map(|(_, driver)| driver),
            Self::Firefox => {
                prerequisites::ensure_adapter(policy)?;
                tools::firefox(policy)?;
                tools::geckodriver(policy)
            }
        }
    }

    fn drive(self, step: Step, driver: &Path, scratch: &Path) -> Step {
        let (ours, others) = match self {
            Self::Chromium => ("CHROMEDRIVER", ["GECKODRIVER", "SAFARIDRIVER"]),
            Self::Firefox => ("GECKODRIVER", ["CHROMEDRIVER", "SAFARIDRIVER"]),
        };
        let step = others.into_iter().fold(step, Step::unset);
        step.set(ours, driver.display().to_string())
            .set("WASM_BINDGEN_TEST_WEBDRIVER_JSON", root().join(CAPABILITIES).display().to_string())
            .set("WASM_BINDGEN_TEST_TIMEOUT", TEST_SECONDS)
            .set("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", DRIVER_SECONDS)
            .set("TMPDIR", scratch.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_browser_has_its_own_driver_only() {
        let driven = |browser: Browser| {
            let step = browser.drive(Step::new("x", "test"), Path::new("driver"), Path::new("scratch"));
            ["CHROMEDRIVER", "GECKODRIVER"]
                .map(|name| step.environment.iter().find(|(known, _)| *known == name).unwrap().1.clone())
        };
        assert_eq!(driven(Browser::Chromium), [Some("driver".to_owned()), None]);
        assert_eq!(driven(Browser::Firefox), [None, Some("driver".to_owned())]);
    }

    #[test]
    fn the_capabilities_exist() {
        let text = fs::read_to_string(root().join(CAPABILITIES)).unwrap();
        assert!(text.contains("goog:chromeOptions") && text.contains("moz:firefoxOptions"));
    }
}
