//! `cargo xtask mutants`: inserts the faults of `tests/mutants.toml` one at a time into a copy of the tree, and shows
//! which test finds each.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use crate::{
    commands,
    folders::{root, target_folder},
    steps::{Step, cargo},
    times::{self, Times},
};

const FILE: &str = "tests/mutants.toml";

#[derive(Deserialize)]
struct Mutants {
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
struct Mutant {
    name: String,
    /// Relative to the root.
    file: PathBuf,
    /// Occurs once in the file.
    find: String,
    replace: String,
}

struct Verdict {
    name: String,
    /// Failed step.
    found_by: Option<&'static str>,
    times: Times,
}

/// Tests every fault whose name contains `filter`.
///
/// # Errors
/// If the unchanged tree fails, a fault does not fit the code, or a fault is not found.
pub(crate) fn run(filter: &str) -> anyhow::Result<()> {
    let mutants: Vec<Mutant> = read()?.into_iter().filter(|mutant| mutant.name.contains(filter)).collect();
    ensure!(!mutants.is_empty(), "no fault of {FILE} is called `{filter}`");
    let tree = Tree::copied()?;
    println!("the tree as it is");
    if let Some(step) = tree.failing_step() {
        bail!("{step} fails without any fault");
    }
    let mut verdicts = vec![];
    for mutant in mutants {
        println!("{}", mutant.name);
        let text = mutant.applied(&tree.folder)?;
        let file = tree.folder.join(&mutant.file);
        let original = fs::read_to_string(&file)?;
        fs::write(&file, text)?;
        let (found_by, times) = times::measured(|| tree.failing_step());
        fs::write(&file, original)?;
        println!("    {}", found_by.unwrap_or("NOT FOUND"));
        verdicts.push(Verdict { name: mutant.name, found_by, times });
    }
    println!("\n{}", table(&verdicts));
    let missed = verdicts.iter().filter(|verdict| verdict.found_by.is_none()).count();
    ensure!(missed == 0, "{missed} of {} faults are not found", verdicts.len());
    Ok(())
}

fn read() -> anyhow::Result<Vec<Mutant>> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("no {FILE}"))?;
    let Mutants { mutant } = toml::from_str(&text).with_context(|| FILE.to_owned())?;
    Ok(mutant)
}

impl Mutant {
    fn applied(&self, root: &Path) -> anyhow::Result<String> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path).with_context(|| format!("no `{}`", path.display()))?;
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "{}: `{}` is {count} times in `{}`", self.name, self.find, self.file.display());
        Ok(text.replace(&self.find, &self.replace))
    }
}

/// A copy of the tracked files, with its own target folder.
struct Tree {
    folder: PathBuf,
    target: PathBuf,
}

impl Tree {
    fn copied() -> anyhow::Result<Self> {
        let own = target_folder().join("mutants");
        let tree = Self { folder: own.join("tree"), target: own.join("target") };
        drop(fs::remove_dir_all(&tree.folder));
        fs::create_dir_all(&tree.folder).with_context(|| format!("cannot create `{}`", tree.folder.display()))?;
        let prefix = format!("--prefix={}/", tree.folder.display());
        let status = Command::new("git").current_dir(root()).args(["checkout-index", "--all", &prefix]).status();
        ensure!(status.context("cannot start `git`")?.success(), "git cannot copy the tree");
        Ok(tree)
    }

    fn failing_step(&self) -> Option<&'static str> {
        let fails = |step: &Step| {
            let mut command = Command::new(cargo());
            command.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).args(&step.arguments);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            !command.status().is_ok_and(|status| status.success())
        };
        commands::mutant_tests().iter().find(|step| fails(step)).map(|step| step.name)
    }
}

fn table(verdicts: &[Verdict]) -> String {
    let width = verdicts.iter().map(|verdict| verdict.name.len()).max().unwrap_or(0);
    verdicts.iter().fold(String::new(), |mut table, Verdict { name, found_by, times }| {
        let _ = writeln!(table, "{name:width$}  {times}  {}", found_by.unwrap_or("NOT FOUND"));
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_fits_the_code() {
        let mutants = read().unwrap();
        assert!(mutants.len() >= 20, "only {} faults", mutants.len());
        for mutant in &mutants {
            assert_ne!(mutant.find, mutant.replace, "{}", mutant.name);
            mutant.applied(&root()).unwrap();
        }
    }

    #[test]
    fn what_was_not_found_is_said() {
        let verdict = |found_by| Verdict { name: "a".to_owned(), found_by, times: Times { wall: 1.0, processor: 2.0 } };
        let table = table(&[verdict(Some("tests")), verdict(None)]);
        let ends: Vec<&str> = table.lines().map(|line| line.rsplit("  ").next().unwrap()).collect();
        assert_eq!(ends, ["tests", "NOT FOUND"]);
    }
}
