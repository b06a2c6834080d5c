//! `cargo xtask web`: pages for browsers, and the tests that run in them.
//!
//! `toolchain` finds a Rust for WebAssembly, `tools` other programs; `page` builds and weighs pages, `site` is the page
//! for people, `browsers` runs tests, `baselines` starts measurements, `bundle` packs tests and measurements for other
//! machines.

mod baselines;
mod browsers;
mod bundle;
mod imports;
mod page;
mod site;
mod toolchain;
mod tools;

use clap::Subcommand;

use crate::{Access, prerequisites, steps};

const TARGET: &str = "wasm32-unknown-unknown";

/// Subcommands of `cargo xtask web`.
#[derive(Subcommand)]
pub(crate) enum Action {
    /// Build the page with three kernels, say what it weighs, fail if that is too much, and build the page for people
    Build {
        #[command(flatten)]
        access: Access,
    },
    /// Lint what is compiled for browsers only
    Lint {
        #[command(flatten)]
        access: Access,
    },
    /// Run the kernel tests in headless Chromium and Firefox, and drive the page for people there
    Test {
        #[command(flatten)]
        access: Access,
        /// Only in this browser
        #[arg(long, value_enum)]
        browser: Option<browsers::Browser>,
        /// Run every variant of every test program: takes several times as long
        #[arg(long)]
        thorough: bool,
        /// Only the tests whose name contains this
        filter: Option<String>,
    },
    /// Measure kernels beside TensorFlow.js and ONNX Runtime Web, which are fetched from npm, in headless browsers
    Bench {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        options: baselines::Options,
    },
    /// Put the kernel tests and the pages that measure into a folder, with a driver, for a browser on another machine
    Bundle {
        #[command(flatten)]
        access: Access,
        #[command(flatten)]
        options: bundle::Options,
    },
    /// Drive the page for people in headless browsers, and keep pictures of it in docs/web
    Screenshots {
        #[command(flatten)]
        access: Access,
        /// Only in this browser
        #[arg(long, value_enum)]
        browser: Option<browsers::Browser>,
    },
    /// Build the page for people with its model, and serve it to browsers on this machine
    Serve {
        #[command(flatten)]
        access: Access,
        /// The port; 0 takes a free one
        #[arg(long, default_value_t = 8080)]
        port: u16,
    },
}

pub(crate) fn run(action: Action) -> anyhow::Result<()> {
    match action {
        Action::Build { access } => {
            page::build(access)?;
            site::build_and_weigh(access)
        }
        Action::Lint { access } => {
            prerequisites::ensure_components(access.install_policy())?;
            let step = toolchain::ensure(access.install_policy())?.step("lints", &lint());
            steps::run(&[step], access.offline)
        }
        Action::Test { access, browser, thorough, filter } => {
            // The page's drive is no test that a filter could select.
            let page = filter.is_none();
            browsers::test(access, browser, thorough, filter)?;
            if page { site::drive(access, browser, false) } else { Ok(()) }
        }
        Action::Bench { access, options } => baselines::bench(access, &options),
        Action::Bundle { access, options } => bundle::bundle(access, &options),
        Action::Screenshots { access, browser } => site::drive(access, browser, true),
        Action::Serve { access, port } => site::serve(access, port),
    }
}

/// Crates that pages link, and those that run in browsers.
fn lint() -> String {
    let packages = [
        "fuse-runtime",
        "fuse-kernels",
        "fuse-gpu",
        "fuse-test-support",
        "fuse-web-page",
        "fuse-web-rivals",
        "fuse-web-size",
    ];
    let packages = packages.map(|package| format!("--package {package}")).join(" ");
    format!(
        "clippy {packages} --package fuse-test-web --lib --test window --test worker --target {TARGET} -- -D warnings"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linted_tests_exist() {
        let tests = crate::folders::root().join("tests/web/tests");
        assert!(tests.join("window/main.rs").is_file() && tests.join("worker.rs").is_file());
        assert!(lint().contains("--test window --test worker"));
    }
}
