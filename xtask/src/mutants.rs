//! `cargo xtask mutants`: faults put into the code one at a time, to see which test finds them.
//!
//! `tests/mutants.toml` holds the faults. Each is built and tested in a copy of the tree, so that the tree itself stays as it is.

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
    steps::{Step, cargo, root, target_folder},
    times::{self, Times},
};

/// The faults.
const FILE: &str = "tests/mutants.toml";

/// The file of the faults.
#[derive(Deserialize)]
struct Mutants {
    mutant: Vec<Mutant>,
}

/// A text of a file that is replaced by another.
#[derive(Deserialize)]
struct Mutant {
    /// What is wrong with it, in words.
    name: String,
    /// The file, from the root.
    file: PathBuf,
    /// A text that the file has once.
    find: String,
    replace: String,
}

/// What became of a fault.
struct Verdict {
    name: String,
    /// The step that failed, if any did.
    found_by: Option<&'static str>,
    times: Times,
}

/// Tests every fault whose name contains `filter`.
///
/// # Errors
/// When the unchanged tree does not pass, a fault does not fit the code, or one is not found.
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
    /// The file's text with the fault.
    fn applied(&self, root: &Path) -> anyhow::Result<String> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path).with_context(|| format!("no `{}`", path.display()))?;
        let count = text.matches(&self.find).count();
        ensure!(count == 1, "{}: `{}` is {count} times in `{}`", self.name, self.find, self.file.display());
        Ok(text.replace(&self.find, &self.replace))
    }
}

/// A copy of the files that git knows, with a target folder of its own.
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

    /// The first step that fails here.
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
