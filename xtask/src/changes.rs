//! Packages changed since `cargo xtask check` last passed.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::{
    folders::{root, target_folder},
    steps::cargo,
};

pub(crate) struct Changes {
    /// Sorted names.
    pub(crate) packages: Vec<String>,
    tree: String,
}

/// Compares files with the last check that passed; without one, all packages changed.
///
/// # Errors
/// If git or cargo fails.
pub(crate) fn since_last_check() -> anyhow::Result<Changes> {
    let (packages, tree) = (packages()?, tree()?);
    let last = fs::read_to_string(file()).unwrap_or_default();
    let files = git(&["diff", "--name-only", last.trim(), &tree], &[]);
    let packages = match files {
        Ok(files) if !last.is_empty() => changed(&packages, &files),
        _ => packages.into_iter().map(|package| package.name).collect(),
    };
    Ok(Changes { packages, tree })
}

impl Changes {
    /// Records the tree as checked, as it was when compared.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn checked(&self) -> anyhow::Result<()> {
        fs::write(file(), &self.tree).with_context(|| format!("cannot write `{}`", file().display()))
    }
}

fn file() -> PathBuf {
    target_folder().join("checked-tree")
}

/// All files, untracked ones included. A separate index leaves the user's unchanged.
fn tree() -> anyhow::Result<String> {
    let index = target_folder().join("checked-index");
    drop(fs::remove_file(&index));
    let variables = [("GIT_INDEX_FILE", index.to_string_lossy().into_owned())];
    git(&["read-tree", "HEAD"], &variables)?;
    git(&["add", "--all"], &variables)?;
    Ok(git(&["write-tree"], &variables)?.trim().to_owned())
}

fn git(arguments: &[&str], variables: &[(&str, String)]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    command.current_dir(root()).args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().context("cannot start `git`")?;
    if !output.status.success() {
        bail!("`git {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[derive(Debug)]
struct Package {
    name: String,
    /// Relative to the root, with a final slash; empty for the root.
    folder: String,
}

fn packages() -> anyhow::Result<Vec<Package>> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        name: String,
        manifest_path: PathBuf,
    }
    let mut command = Command::new(cargo());
    command.current_dir(root()).args(["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let output = command.output().context("cannot start `cargo metadata`")?;
    let Metadata { packages } = serde_json::from_slice(&output.stdout).context("`cargo metadata` says nothing")?;
    let root = root();
    let package = |Named { name, manifest_path }: Named| {
        let folder = manifest_path.parent().and_then(|folder| folder.strip_prefix(&root).ok())?;
        let folder = folder.iter().map(|part| format!("{}/", part.to_string_lossy())).collect();
        Some(Package { name, folder })
    };
    Ok(packages.into_iter().filter_map(package).collect())
}

/// The longest matching folder owns a file.
fn changed(packages: &[Package], files: &str) -> Vec<String> {
    let owner = |file: &str| {
        let owners = packages.iter().filter(|package| file.starts_with(&package.folder));
        owners.max_by_key(|package| package.folder.len()).map(|package| package.name.clone())
    };
    let sources = files.lines().filter(|file| [".rs", ".toml"].iter().any(|end| file.ends_with(end)));
    sources.filter_map(owner).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_the_nearest_package() {
        let package = |name: &str, folder: &str| Package { name: name.to_owned(), folder: folder.to_owned() };
        let packages = [package("root", ""), package("ui", "tests/ui/"), package("runtime", "runtime/")];
        let files = "tests/ui/src/lib.rs\ntests/numeric/main.rs\nREADME.md\nruntime/tables/a.toml\n";
        assert_eq!(changed(&packages, files), ["root", "runtime", "ui"]);
        assert!(changed(&packages, "docs/a.md\n").is_empty());
    }

    #[test]
    fn the_workspace_has_packages() {
        let packages = packages().unwrap();
        assert!(packages.iter().any(|package| package.name == "xtask" && package.folder == "xtask/"));
        assert!(packages.iter().any(|package| package.name == "fuse-gpu" && package.folder.is_empty()));
    }
}
