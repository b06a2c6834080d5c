//! Steps of each command.

use std::{
    env::consts::EXE_SUFFIX,
    ffi::OsString,
    path::{Path, PathBuf, absolute},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::{Access, folders::target_folder, steps::Step};

pub(crate) fn demo(file: Option<PathBuf>) -> Step {
    let step = Step::new("demo", "run --package fuse-gpu --features reference --example feed_forward");
    match file.map(|file| absolute(&file).unwrap_or(file)) {
        Some(file) => step.argument("--").argument(file),
        None => step,
    }
}

pub(crate) fn minilm(model: &Path) -> Vec<Step> {
    let search = Step::new("search", "run --package fuse-gpu --example minilm -- search");
    let search = search.argument("someone makes music").argument("examples/data/sentences.txt");
    let verify = format!("run --package fuse-gpu --example minilm -- {VERIFY}");
    [Step::new("real model", &verify), search].map(|step| step.argument("--model").argument(model)).to_vec()
}

const VERIFY: &str = "verify tests/data/minilm_embeddings.json";

/// Quantized layers from `examples/quantize_report`.
const CODES: &str = "target/codes";

/// Built by an earlier step: `cargo run` would recompile most dependencies with one package's features.
fn built_example(name: &'static str, example: &str, arguments: &str) -> Step {
    let program = format!("{example}{EXE_SUFFIX}");
    Step::new(name, arguments).by(target_folder().join("debug/examples").join(program))
}

/// Every check, cheapest first; `model` is the folder for `examples/minilm`.
pub(crate) fn test(model: &Path, thorough: bool, browsers: bool, access: Access) -> Vec<Step> {
    let all = "test --workspace --all-features";
    // One call for all tests: no core idles at the end of a build.
    let tests = Step::new("tests", &format!("{all} --no-fail-fast --tests"));
    let mut steps = vec![
        format(),
        if thorough { tests.set("FUSE_THOROUGH", "1") } else { tests },
        Step::new("lints", "clippy --workspace --all-targets --all-features -- -D warnings"),
        Step::new("examples", "build --workspace --all-features --examples"),
        built_example("training", "digits", ""),
        built_example("language model", "char_lm", ""),
        built_example("real model", "minilm", &format!("{VERIFY} --model")).argument(model),
        // Few sentences show that it works. Quantization needs an optimized build.
        built_example("quantization", "quantize_report", &format!("--quick --save {CODES} --model")).argument(model),
        built_example("calibrated model", "minilm", &format!("{VERIFY} --calibrated {CODES}/q2.safetensors --model"))
            .argument(model),
        // Unoptimized: times on a software adapter are useless, and another profile would recompile everything.
        Step::new("tuner", "bench --workspace --all-features --profile dev --bench tune --")
            .argument("--quick")
            .argument("--filter")
            .argument("linear f32 1x16x16x16"),
        Step::new("benchmark", "bench --workspace --all-features --profile dev --bench kernels -- --quick"),
        Step::new("doc tests", &format!("{all} --doc")),
        Step::new("default features", "check --workspace"),
        Step::new("no default features", "check --workspace --no-default-features"),
        Step::new("documentation", "doc --workspace --no-deps --all-features").set("RUSTDOCFLAGS", "-D warnings"),
    ];
    if browsers {
        steps.extend(in_browsers(thorough, access));
    }
    // Nothing changes between steps, and incremental data takes a third of the disk space.
    steps.into_iter().map(|step| step.set("CARGO_INCREMENTAL", "0")).collect()
}

/// Commands of this program, so that each can be repeated alone.
fn in_browsers(thorough: bool, access: Access) -> [Step; 3] {
    let step = |name, arguments: &str| {
        let step = access.flags().fold(Step::new(name, arguments), Step::argument);
        if thorough && name == "browsers" { step.argument("--thorough") } else { step }
    };
    [step("page", "xtask web build"), step("lints of pages", "xtask web lint"), step("browsers", "xtask web test")]
}

/// Crates whose unit tests and `tests/all` need neither adapter nor browser.
const CHECKED: &[&str] = &[
    "fuse-artifact",
    "fuse-auto",
    "fuse-bench-results",
    "fuse-compiler",
    "fuse-formats",
    "fuse-macros",
    "fuse-page-server",
    "fuse-quantize",
    "fuse-runtime",
    "fuse-test-compiler",
    "fuse-web-baselines",
    "xtask",
];

fn packages(names: &[&str]) -> String {
    names.iter().map(|name| format!(" -p {name}")).collect()
}

/// In one call, with shared features: nothing compiles twice.
fn checked_tests() -> Step {
    Step::new("tests", &format!("test --all-features --lib --bins --test all{}", packages(CHECKED)))
}

/// Needs neither adapter nor browser; lints `changed` packages.
pub(crate) fn check(changed: &[String]) -> Vec<Step> {
    let mut steps = vec![format(), checked_tests().argument("--no-fail-fast")];
    let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
    if !changed.is_empty() {
        let line = format!("clippy --all-targets --all-features{} -- -D warnings", packages(&changed));
        steps.push(Step::new("lints", &line));
    }
    steps
}

/// Run for each fault until one fails.
pub(crate) fn mutant_tests() -> Vec<Step> {
    // A fault in the code does not fit it any more.
    let checked = checked_tests().argument("--").argument("--skip").argument("every_fault_fits_the_code");
    let on_adapters = Step::new(
        "tests on adapters",
        "test --all-features -p fuse-gpu -p fuse-runtime --test lazy --test numeric --test programs --test runtime",
    );
    vec![checked, on_adapters]
}

fn format() -> Step {
    Step::new("format", "fmt --all --check")
}

pub(crate) fn bless() -> Vec<Step> {
    vec![
        Step::new("goldens", "test -p fuse-test-compiler --test all -- goldens schedules").set("FUSE_BLESS", "1"),
        Step::new("compile errors", "test -p fuse-test-ui").set("TRYBUILD", "overwrite"),
    ]
}

/// Measurements of `cargo xtask bench` besides what a launch picks.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Detail {
    /// Measure every plan of each function, not only the one that a launch picks
    #[arg(long)]
    alternatives: bool,
    /// Measure every plan, and every variant of each kernel
    #[arg(long)]
    variants: bool,
    /// Also with pipelines for exactly the sizes of each case
    #[arg(long)]
    specialize: bool,
    /// Print the time of each dispatch
    #[arg(long)]
    explain: bool,
}

/// Which cases `cargo xtask bench` measures.
#[derive(Args, Clone, Default)]
pub(crate) struct Scope {
    /// Small sizes and short measurements
    #[arg(long)]
    pub(crate) quick: bool,
    /// Products, chains, rows and attention over many sizes, and nothing else
    #[arg(long)]
    sweep: bool,
    /// Only the cases whose time has a bar or stands beside rivals
    #[arg(long, conflicts_with = "sweep")]
    bars: bool,
    /// Only the cases whose name and size, with a space between, contain this; several select the cases that match any
    #[arg(long)]
    pub(crate) filter: Vec<String>,
}

pub(crate) const RESULTS: &str = "kernels.jsonl";

pub(crate) fn bench(scope: &Scope, detail: Detail, out: Option<&Path>) -> anyhow::Result<Step> {
    let mut step = Step::new("benchmark", "bench --package fuse-gpu --features jit --bench kernels --");
    let Detail { alternatives, variants, specialize, explain } = detail;
    let flags = [
        ("--quick", scope.quick),
        ("--sweep", scope.sweep),
        ("--bars", scope.bars),
        ("--alternatives", alternatives),
        ("--variants", variants),
        ("--specialize", specialize),
        ("--explain", explain),
    ];
    for (flag, given) in flags {
        if given {
            step = step.argument(flag);
        }
    }
    for filter in &scope.filter {
        step = step.argument("--filter").argument(filter);
    }
    if let Some(out) = out {
        std::fs::create_dir_all(out).with_context(|| format!("cannot create `{}`", out.display()))?;
        let file: OsString = absolute(out)?.join(RESULTS).into();
        step = step.argument("--json").argument(file);
    }
    Ok(step)
}

/// Scope of `cargo xtask tune`.
#[derive(Args, Clone, Default)]
pub(crate) struct Search {
    /// Few and small sizes, for software adapters
    #[arg(long)]
    quick: bool,
    /// Judge a table on sizes that no search measures, instead of searching
    #[arg(long)]
    held_out: bool,
    /// Judge a table by itself, measuring nothing: choose at the sizes of each entry by the others
    #[arg(long, conflicts_with = "held_out")]
    cross_validate: bool,
    /// Compare the specializations of the kernels that launches choose (unrolled loops, `if` and `switch`), instead of searching
    #[arg(long, conflicts_with_all = ["held_out", "cross_validate"])]
    specializations: bool,
    /// Only the cases whose name contains this; several select the cases that match any
    #[arg(long)]
    filter: Vec<String>,
    /// The table: its entries are kept and not measured again; with --held-out, the table to judge in place of the
    /// built-in ones; with --cross-validate, the table to judge
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Measure all cases so many times, and take the least time of each schedule
    #[arg(long)]
    repeat: Option<u32>,
    /// Seconds after which to stop
    #[arg(long)]
    budget: Option<u64>,
    /// Parts of the names of the adapters that the table is for, in place of this adapter's name
    #[arg(long, value_delimiter = ',')]
    adapters: Vec<String>,
}

pub(crate) fn tune(search: &Search) -> anyhow::Result<Step> {
    let mut step = Step::new("search", "bench --package fuse-gpu --features tune --bench tune --");
    let Search { quick, held_out, cross_validate, specializations, filter, out, repeat, budget, adapters } = search;
    let flags = [
        ("--quick", quick),
        ("--held-out", held_out),
        ("--cross-validate", cross_validate),
        ("--specializations", specializations),
    ];
    for (flag, &given) in flags {
        if given {
            step = step.argument(flag);
        }
    }
    for filter in filter {
        step = step.argument("--filter").argument(filter);
    }
    if let Some(out) = out {
        step = step.argument("--out").argument(absolute(out)?);
    }
    if let Some(repeat) = repeat {
        step = step.argument("--repeat").argument(repeat.to_string());
    }
    if let Some(budget) = budget {
        step = step.argument("--budget").argument(budget.to_string());
    }
    if !adapters.is_empty() {
        step = step.argument("--adapters").argument(adapters.join(","));
    }
    Ok(step)
}

/// Inputs of `cargo xtask fuzz`.
#[derive(Args, Clone, Copy)]
pub(crate) struct Fuzzing {
    /// Random programs on the adapters, or bytes for what reads files
    #[arg(value_enum)]
    what: Fuzzed,
    /// For how long
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Where to start; other numbers try others. The clock's if not given
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fuzzed {
    Programs,
    Files,
}

impl Fuzzing {
    pub(crate) fn needs_adapter(self) -> bool {
        self.what == Fuzzed::Programs
    }
}

pub(crate) fn fuzz(Fuzzing { what, minutes, seed }: Fuzzing) -> Step {
    let tests = if what == Fuzzed::Programs { "numeric -- random_programs" } else { "fuzz --" };
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let step = Step::new("fuzz", &format!("test -p fuse-gpu --all-features --test {tests} --nocapture"));
    step.set("FUSE_MINUTES", minutes.to_string()).set("FUSE_SEED", seed.unwrap_or_else(clock).to_string())
}

/// A separate program, so that xtask does not link plotting.
pub(crate) fn report(files: &[PathBuf], store: Option<&str>, check: bool) -> anyhow::Result<Step> {
    let mut step = Step::new("report", "run --quiet --package fuse-bench-results --");
    for file in files {
        step = step.argument(absolute(file)?);
    }
    if let Some(name) = store {
        step = step.argument("--store").argument(name);
    }
    Ok(if check { step.argument("--check") } else { step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = |name: &str| match name {
            "fuse-bench-results" => root.join("benches/results"),
            "fuse-page-server" => root.join("xtask/page_server"),
            "fuse-web-baselines" => root.join("benches/web_rivals/measure"),
            _ => name.strip_prefix("fuse-test-").map_or_else(|| root.join(name), |name| root.join("tests").join(name)),
        };
        for name in CHECKED {
            let manifest = std::fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
    }

    #[test]
    fn changed_packages_are_linted() {
        let names = |changed: &[String]| check(changed).iter().map(|step| step.name).collect::<Vec<_>>();
        assert_eq!(names(&[]), ["format", "tests"]);
        let steps = check(&["fuse-gpu".to_owned()]);
        assert_eq!(names(&["fuse-gpu".to_owned()])[2..], ["lints"]);
        assert!(steps[2].arguments.windows(2).any(|pair| pair[0] == "-p" && pair[1] == "fuse-gpu"));
    }

    #[test]
    fn browsers_are_left_out_only_on_request() {
        let access = Access { no_install: false, offline: true };
        let names =
            |browsers| test(Path::new("model"), true, browsers, access).iter().map(|s| s.name).collect::<Vec<_>>();
        assert_eq!(names(true)[names(false).len()..], ["page", "lints of pages", "browsers"]);
        let [page, _, browsers] = in_browsers(true, access);
        assert_eq!(page.arguments.last().unwrap(), "--offline");
        assert_eq!(browsers.arguments[1..], ["web", "test", "--offline", "--thorough"]);
    }

    #[test]
    fn options_of_the_benchmark_reach_it() {
        let tail = |scope: Scope, detail| {
            let step = bench(&scope, detail, None).unwrap();
            let tail = step.arguments.iter().skip_while(|argument| *argument != "--");
            tail.map(|argument| argument.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let quick = Scope { quick: true, filter: vec!["relu(a + b)".to_owned()], ..Scope::default() };
        let quick = tail(quick, Detail::default());
        assert_eq!(quick, ["--", "--quick", "--filter", "relu(a + b)"]);
        let detail = Detail { alternatives: true, variants: true, specialize: true, explain: true };
        let detailed = tail(Scope { sweep: true, bars: true, ..Scope::default() }, detail);
        assert_eq!(detailed, ["--", "--sweep", "--bars", "--alternatives", "--variants", "--specialize", "--explain"]);
    }

    #[test]
    fn fuzzing_is_a_test_that_exists() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
        assert!(tests.join("numeric/random_programs.rs").exists());
        for (what, test) in [(Fuzzed::Programs, "numeric"), (Fuzzed::Files, "fuzz")] {
            let step = fuzz(Fuzzing { what, minutes: 0.5, seed: Some(7) });
            assert!(
                step.arguments.iter().any(|argument| argument == test) && tests.join(test).join("main.rs").exists()
            );
        }
    }

    #[test]
    fn files_of_results_reach_the_report() {
        let step = report(&["a.jsonl".into()], Some("h200"), false).unwrap();
        let tail: Vec<_> = step.arguments.iter().skip_while(|argument| *argument != "--").skip(1).collect();
        assert!(Path::new(tail[0]).is_absolute() && Path::new(tail[0]).ends_with("a.jsonl"));
        assert_eq!(tail[1..], ["--store", "h200"]);
        assert_eq!(report(&[], None, true).unwrap().arguments.last().unwrap(), "--check");
    }

    #[test]
    fn options_of_the_search_reach_it() {
        let search = Search {
            quick: true,
            held_out: true,
            cross_validate: false,
            specializations: false,
            filter: vec!["linear f32".to_owned()],
            out: Some("table.toml".into()),
            repeat: Some(3),
            budget: Some(60),
            adapters: vec!["h100".to_owned(), "h200".to_owned()],
        };
        let step = tune(&search).unwrap();
        let tail: Vec<&str> =
            step.arguments.iter().map(|a| a.to_str().unwrap()).skip_while(|argument| *argument != "--").collect();
        let [dashes, quick, held_out, filter, linear, out, file, rest @ ..] = &tail[..] else { panic!("{tail:?}") };
        assert_eq!(
            [*dashes, quick, held_out, filter, linear],
            ["--", "--quick", "--held-out", "--filter", "linear f32"]
        );
        assert_eq!(*out, "--out");
        assert!(Path::new(file).is_absolute() && file.ends_with("table.toml"));
        assert_eq!(rest, ["--repeat", "3", "--budget", "60", "--adapters", "h100,h200"]);
        assert_eq!(tune(&Search::default()).unwrap().arguments.last().unwrap(), "--");
        for (search, flag) in [
            (Search { specializations: true, ..Search::default() }, "--specializations"),
            (Search { cross_validate: true, ..Search::default() }, "--cross-validate"),
        ] {
            assert_eq!(tune(&search).unwrap().arguments.last().unwrap(), flag);
        }
    }

    #[test]
    fn the_real_model_is_checked_against_a_file_that_exists() {
        let steps =
            [minilm(Path::new("some folder")), test(Path::new("some folder"), false, true, Access::default())].concat();
        let steps: Vec<_> = steps.iter().filter(|step| ["real model", "search"].contains(&step.name)).collect();
        assert_eq!(steps.len(), 3);
        for step in steps {
            assert_eq!(step.arguments.last().unwrap(), "some folder");
            let file = step.arguments.iter().map(Path::new).find(|path| path.extension().is_some()).unwrap();
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file).exists(), "{}", file.display());
        }
    }

    #[test]
    fn a_file_given_to_the_demo_reaches_it_as_an_absolute_path() {
        let step = demo(Some("layer.safetensors".into()));
        let file = Path::new(step.arguments.last().unwrap());
        assert!(file.is_absolute() && file.ends_with("layer.safetensors"));
        assert!(!demo(None).arguments.contains(&"--".into()));
    }
}
