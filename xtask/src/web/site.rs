//! Page of `examples/web`: builds it, adds the model, serves it, and drives it in browsers. Its weight has no bound,
//! unlike that of `page`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;

use super::{
    TARGET, browsers,
    browsers::Browser,
    page::{bind, print_weights},
    toolchain,
};
use crate::{
    Access,
    folders::{root, target_folder},
    minilm,
    steps::{self, Step},
};

const PACKAGE: &str = "fuse-web-page";
/// Without ending.
const NAME: &str = "fuse_web_page";
const FILES: &str = "examples/web/page";
/// Embeddings to compare with.
const KNOWN: &str = "tests/data/minilm_embeddings.json";
/// Below the page's folder.
const MODEL: &str = "model";
pub(crate) const SCREENSHOTS: &str = "docs/web";

/// Builds the page without the model.
///
/// # Errors
/// If a tool is missing or fails.
pub(crate) fn build_and_weigh(access: Access) -> anyhow::Result<()> {
    print_weights(&build(access)?, NAME)
}

fn build(access: Access) -> anyhow::Result<PathBuf> {
    let toolchain = toolchain::ensure(access.install_policy())?;
    let arguments = format!("build --package {PACKAGE} --profile web --target {TARGET}");
    steps::run(&[toolchain.step("page with examples", &arguments)], access.offline)?;
    let folder = root().join("target/web/page");
    let module = target_folder().join(TARGET).join("web").join(format!("{NAME}.wasm"));
    bind(access, &module, &folder, &root().join(FILES))?;
    Ok(folder)
}

/// Builds the page with its model, fetched if missing.
///
/// # Errors
/// If a tool is missing or fails, or the model cannot be fetched.
fn build_with_model(access: Access) -> anyhow::Result<PathBuf> {
    let model = minilm::fetched(access)?;
    let folder = build(access)?;
    let inside = folder.join(MODEL);
    fs::create_dir_all(&inside).with_context(|| format!("cannot create `{}`", inside.display()))?;
    for file in minilm::FILES {
        place(&model.join(file), &inside.join(file))?;
    }
    place(&root().join(KNOWN), &inside.join("known.json"))?;
    Ok(folder)
}

/// Serves the page with its model until the process ends.
///
/// # Errors
/// As [`build_with_model`], and if the port is taken.
pub(crate) fn serve(access: Access, port: u16) -> anyhow::Result<()> {
    fuse_page_server::serve(&build_with_model(access)?, port)
}

/// Drives the page with its model in browsers, as a visitor would.
///
/// # Errors
/// As [`build_with_model`], and if the page misbehaves.
pub(crate) fn drive(access: Access, browser: Option<Browser>, screenshots: bool) -> anyhow::Result<()> {
    let drivers = browsers::drivers(browser, access.install_policy())?;
    let folder = build_with_model(access)?;
    let address = fuse_page_server::serve_beside(&folder)?;
    let scratch = browsers::scratch()?;
    let steps: Vec<Step> = drivers
        .iter()
        .map(|(browser, driver)| {
            let step = Step::new(browser.page_step(), "run --quiet --package fuse-test-page -- --browser")
                .argument(browser.name().to_lowercase())
                .argument("--driver")
                .argument(driver)
                .argument("--capabilities")
                .argument(root().join(browsers::CAPABILITIES))
                .argument("--page")
                .argument(format!("http://{address}/"))
                .set("TMPDIR", scratch.display().to_string());
            if screenshots { step.argument("--screenshots").argument(root().join(SCREENSHOTS)) } else { step }
        })
        .collect();
    let outcome = steps::run_timed(&steps, access.offline, false);
    fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
    outcome
}

/// Or a copy, across file systems.
fn place(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::hard_link(from, to)
        .or_else(|_| fs::copy(from, to).map(drop))
        .with_context(|| format!("cannot put `{}` to `{}`", from.display(), to.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_files() {
        let read = |file: &str| fs::read_to_string(root().join(FILES).join(file)).unwrap();
        let (document, script, engine) = (read("index.html"), read("page.js"), read("engine.js"));
        assert!(document.contains("src=\"page.js\"") && document.contains("href=\"style.css\""));
        assert!(script.contains("./engine.js") && read("worker.js").contains("./engine.js"));
        assert!(engine.contains(&format!("./{NAME}.js")), "the engine loads the module's script");
        for file in minilm::FILES.into_iter().chain(["known.json"]) {
            assert!(engine.contains(&format!("{MODEL}/{file}")), "the engine fetches `{file}`");
        }
        assert!(root().join(KNOWN).is_file());
    }

    #[test]
    fn elements_that_scripts_look_for_exist() {
        let read = |file: &str| fs::read_to_string(root().join(FILES).join(file)).unwrap();
        let (document, script) = (read("index.html"), read("page.js"));
        let wanted = script.split("find(\"#").skip(1).filter_map(|rest| rest.split(['"', ' ']).next());
        for id in wanted {
            assert!(document.contains(&format!("id=\"{id}\"")), "the document has no `{id}`");
        }
    }

    #[test]
    fn a_file_has_a_second_place() {
        let folder = target_folder().join("tmp");
        fs::create_dir_all(&folder).unwrap();
        let to = folder.join(format!("placed-{}", std::process::id()));
        place(&root().join("Cargo.toml"), &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), fs::read(root().join("Cargo.toml")).unwrap());
        fs::remove_file(&to).unwrap();
    }
}
