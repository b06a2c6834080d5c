//! Steps: commands, mostly of cargo, that run in order, are timed, and stop at the first failure.

use std::{
    env,
    ffi::OsString,
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

use anyhow::{Context, bail};

use crate::{
    folders::root,
    times::{self, Times},
};

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// In the summary.
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<OsString>,
    /// To set, or to remove.
    pub(crate) environment: Vec<(&'static str, Option<String>)>,
    pub(crate) program: Option<PathBuf>,
}

impl Step {
    /// From cargo's arguments, separated by spaces.
    pub(crate) fn new(name: &'static str, arguments: &str) -> Self {
        let arguments = arguments.split_whitespace().map(OsString::from).collect();
        Self { name, arguments, environment: vec![], program: None }
    }

    /// May hold spaces.
    pub(crate) fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, Some(value.into())));
        self
    }

    /// Removes a variable that the step may inherit.
    pub(crate) fn unset(mut self, name: &'static str) -> Self {
        self.environment.push((name, None));
        self
    }

    pub(crate) fn by(mut self, program: PathBuf) -> Self {
        self.program = Some(program);
        self
    }

    /// As a person would type it.
    fn line(&self) -> String {
        let mut line = String::new();
        let removed: String = self
            .environment
            .iter()
            .filter(|(_, value)| value.is_none())
            .map(|(name, _)| format!("-u {name} "))
            .collect();
        if !removed.is_empty() {
            line = format!("env {removed}");
        }
        for (name, value) in &self.environment {
            if let Some(value) = value {
                let _ = write!(line, "{name}={value:?} ");
            }
        }
        match &self.program {
            Some(program) => line.push_str(&program.display().to_string()),
            None => line.push_str("cargo"),
        }
        for argument in &self.arguments {
            let _ = write!(line, " {}", argument.to_string_lossy());
        }
        line
    }

    /// Cargo runs test programs natively.
    fn is_test(&self) -> bool {
        let doc_tests = self.arguments.iter().any(|argument| argument == "--doc");
        self.program.is_none() && self.arguments[0] == "test" && !doc_tests
    }

    /// Test programs note their times in `times`.
    fn command(&self, offline: bool, times: Option<&Path>) -> anyhow::Result<Command> {
        let mut command = Command::new(self.program.clone().map_or_else(cargo, PathBuf::into_os_string));
        // `cargo fmt` knows no network.
        if offline && self.arguments[0] != "fmt" {
            command.env("CARGO_NET_OFFLINE", "true");
        }
        // Without a desktop, Mesa's device chooser prints meaningless errors.
        if env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("NODEVICE_SELECT", "1");
        }
        command.current_dir(root());
        if let Some(file) = times.filter(|_| self.is_test()) {
            times::note_tests(&mut command, self.name, file)?;
        }
        command.args(&self.arguments);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Ok(command)
    }

    fn run(&self, offline: bool, times: Option<&Path>) -> anyhow::Result<()> {
        println!("\n==> {}: {}", self.name, self.line());
        let status =
            self.command(offline, times)?.status().with_context(|| format!("cannot start `{}`", self.line()))?;
        self.judge(status)
    }

    /// Runs silently and returns the standard output.
    ///
    /// # Errors
    /// If the step cannot start, or fails.
    pub(crate) fn output(&self, offline: bool) -> anyhow::Result<String> {
        let output =
            self.command(offline, None)?.output().with_context(|| format!("cannot start `{}`", self.line()))?;
        self.judge(output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn judge(&self, status: ExitStatus) -> anyhow::Result<()> {
        if !status.success() {
            bail!("{} failed ({status})\nhelp: run it alone with `{}`", self.name, self.line());
        }
        Ok(())
    }
}

/// Stops at the first failure.
pub(crate) fn run(steps: &[Step], offline: bool) -> anyhow::Result<()> {
    steps.iter().try_for_each(|step| step.run(offline, None))
}

#[derive(Debug)]
struct Outcome {
    times: Times,
    result: anyhow::Result<()>,
}

/// Prints times of steps and test programs. Stops at the first failure, unless told to keep going.
pub(crate) fn run_timed(steps: &[Step], offline: bool, keep_going: bool) -> anyhow::Result<()> {
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(steps.len());
    let noted = times::file();
    for step in steps {
        if !keep_going && outcomes.iter().any(|outcome| outcome.result.is_err()) {
            break;
        }
        let (result, times) = times::measured(|| step.run(offline, Some(&noted)));
        outcomes.push(Outcome { times, result });
    }
    println!("\n{}\n{}", times::table(&times::take_tests(&noted)), summary(steps, &outcomes));
    outcomes.into_iter().try_for_each(|outcome| outcome.result)
}

/// Steps without an outcome were not run.
fn summary(steps: &[Step], outcomes: &[Outcome]) -> String {
    let width = steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
    let mut table = format!("{:width$}  {:>7}  {:>9}  {:>9}\n", "step", "", "wall", "processor");
    for (i, step) in steps.iter().enumerate() {
        let _ = match outcomes.get(i) {
            Some(Outcome { times, result }) => {
                let result = if result.is_ok() { "ok" } else { "FAILED" };
                writeln!(table, "{:width$}  {result:>7}  {times}", step.name)
            }
            None => writeln!(table, "{:width$}  not run", step.name),
        };
    }
    let total = outcomes.iter().fold(Times::default(), |sum, outcome| sum.and(outcome.times));
    let _ = write!(table, "{:width$}  {:>7}  {total}", "total", "");
    table
}

pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_prints_as_it_is_typed() {
        let step = Step::new("goldens", "test -p fuse-compiler").set("FUSE_BLESS", "1").argument("a b");
        assert_eq!(step.line(), "FUSE_BLESS=\"1\" cargo test -p fuse-compiler a b");
        let other = Step::new("page", "build").unset("A").unset("B").by("/opt/cargo".into());
        assert_eq!(other.line(), "env -u A -u B /opt/cargo build");
    }

    #[test]
    fn the_summary_tells_failed_from_not_run() {
        let steps = [Step::new("format", "fmt"), Step::new("lints", "clippy"), Step::new("tests", "test")];
        let outcome = |wall, result| Outcome { times: Times { wall, processor: 1.5 * wall }, result };
        let outcomes = [outcome(1.0, Ok(())), outcome(2.0, Err(anyhow::anyhow!("clippy")))];
        let table = summary(&steps, &outcomes);
        let rows = [
            "step                  wall  processor",
            "format       ok      1.0 s      1.5 s",
            "lints    FAILED      2.0 s      3.0 s",
            "tests   not run",
            "total                3.0 s      4.5 s",
        ];
        assert_eq!(table.lines().collect::<Vec<_>>(), rows);
        assert!(!summary(&steps[..1], &outcomes[..1]).contains("FAILED"));
    }

    #[test]
    fn only_what_runs_test_programs_notes_them() {
        let is_test = |arguments: &str| Step::new("x", arguments).is_test();
        assert!(is_test("test --workspace --test all"));
        assert!(
            !is_test("test --doc") && !is_test("clippy") && !Step::new("x", "test").by("/opt/minilm".into()).is_test()
        );
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Cargo.lock").is_file());
    }
}
