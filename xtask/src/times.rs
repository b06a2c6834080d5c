//! Times of steps and test programs: wall time, and processor time of all threads and children.
//!
//! Cargo does not report single test programs: this program runs them in its place (`run-timed`) and appends a line
//! each to a file below `target`.

use std::{
    env,
    ffi::OsString,
    fmt::{self, Write as _},
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::folders::target_folder;

/// Give the runner its file and the step's name.
const FILE: &str = "FUSE_TEST_TIMES";
const STEP: &str = "FUSE_TEST_STEP";

/// Linux reports hundredths of a second, whatever the kernel's configuration.
const TICKS_PER_SECOND: f64 = 100.0;

/// In seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) wall: f64,
    /// Processor time of all processes; 0 if the system does not report it.
    pub(crate) processor: f64,
}

impl Times {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, processor: self.processor + other.processor }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:7.1} s  {:7.1} s", self.wall, self.processor)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Test {
    /// Without cargo's hash.
    program: String,
    step: String,
    #[serde(flatten)]
    times: Times,
}

/// Children that end meanwhile count, so measurements must not overlap.
pub(crate) fn measured<R>(work: impl FnOnce() -> R) -> (R, Times) {
    let (start, before) = (Instant::now(), processor_time_of_children());
    let result = work();
    let processor = processor_time_of_children() - before;
    (result, Times { wall: start.elapsed().as_secs_f64(), processor })
}

fn processor_time_of_children() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    ticks_of_children(&text).unwrap_or(0.0) / TICKS_PER_SECOND
}

/// `cutime` + `cstime` (proc_pid_stat(5)). The second field, a name, may hold spaces and parentheses.
fn ticks_of_children(stat: &str) -> Option<f64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut field = || fields.next()?.parse::<f64>().ok();
    Some(field()? + field()?)
}

/// Makes a cargo command record its test programs' times in `file`.
///
/// # Errors
/// If the path of this program is unknown.
pub(crate) fn note_tests(cargo: &mut Command, step: &str, file: &Path) -> anyhow::Result<()> {
    let program = env::current_exe().context("cannot tell where this program is")?;
    let program = serde_json::to_string(&program.to_string_lossy())?;
    cargo.arg("--config").arg(format!("target.'cfg(all())'.runner = [{program}, \"run-timed\"]"));
    cargo.env(FILE, file).env(STEP, step);
    Ok(())
}

/// Runs a test program in cargo's place, records its times, returns its exit code.
///
/// # Errors
/// If the program cannot start, or the line cannot be written.
pub(crate) fn run(command: &[OsString]) -> anyhow::Result<i32> {
    let (program, arguments) = command.split_first().context("no program to run")?;
    let (status, times) = measured(|| Command::new(program).args(arguments).status());
    let status = status.with_context(|| format!("cannot start `{}`", program.display()))?;
    if let (Some(file), Ok(step)) = (env::var_os(FILE), env::var(STEP)) {
        append(Path::new(&file), &Test { program: test_name(Path::new(program)), step, times })?;
    }
    Ok(status.code().unwrap_or(1))
}

fn append(file: &Path, test: &Test) -> anyhow::Result<()> {
    let line = serde_json::to_string(test)? + "\n";
    let open = fs::OpenOptions::new().create(true).append(true).open(file);
    open.and_then(|mut file| file.write_all(line.as_bytes()))
        .with_context(|| format!("cannot write `{}`", file.display()))
}

fn test_name(program: &Path) -> String {
    let name = program.file_stem().unwrap_or_default().to_string_lossy();
    name.rsplit_once('-').map_or(&*name, |(name, _)| name).to_owned()
}

/// The process id separates nested runs.
pub(crate) fn file() -> PathBuf {
    target_folder().join(format!("test-times-{}.jsonl", std::process::id()))
}

/// Longest first; no file if no test ran.
pub(crate) fn take_tests(file: &Path) -> Vec<Test> {
    let text = fs::read_to_string(file).unwrap_or_default();
    drop(fs::remove_file(file));
    let mut tests: Vec<Test> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    tests.sort_by(|a, b| b.times.wall.total_cmp(&a.times.wall));
    tests
}

/// Programs below one second share a row.
pub(crate) fn table(tests: &[Test]) -> String {
    let (long, short): (Vec<&Test>, Vec<&Test>) = tests.iter().partition(|test| test.times.wall >= 1.0);
    let name = |test: &Test| format!("{} ({})", test.program, test.step);
    let mut rows: Vec<(String, Times)> = long.into_iter().map(|test| (name(test), test.times)).collect();
    if !short.is_empty() {
        let sum = short.iter().fold(Times::default(), |sum, test| sum.and(test.times));
        rows.push((format!("{} others", short.len()), sum));
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().fold(String::new(), |mut table, (name, times)| {
        let _ = writeln!(table, "{name:width$}  {times}");
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_behind_any_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194304 1 2 3 4 100 200 300 40 20 0 1 0 5 6 7";
        assert_eq!(ticks_of_children(stat), Some(340.0));
        assert_eq!(ticks_of_children("7 (a"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_work_of_children_counts() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let (status, times) = measured(|| Command::new("sh").args(["-c", busy]).status());
        assert!(status.is_ok_and(|status| status.success()));
        assert!(times.processor > 0.0 && times.wall > 0.0, "{times:?}");
    }

    #[test]
    fn test_programs_are_noted_and_shown() {
        assert_eq!(test_name(Path::new("/target/debug/deps/random_programs-0a1b2c")), "random_programs");
        let file = env::temp_dir().join(format!("fuse-times-{}.jsonl", std::process::id()));
        let test = |program: &str, wall| Test {
            program: program.to_owned(),
            step: "s".to_owned(),
            times: Times { wall, processor: 2.0 * wall },
        };
        for test in [test("a", 0.5), test("b", 3.0), test("c", 0.25)] {
            append(&file, &test).unwrap();
        }
        let tests = take_tests(&file);
        assert!(!file.exists());
        assert_eq!(tests[0], test("b", 3.0));
        let rows = table(&tests);
        assert_eq!(
            rows.lines().collect::<Vec<_>>(),
            ["b (s)         3.0 s      6.0 s", "2 others      0.8 s      1.5 s"]
        );
    }
}
