//! Reports of visits on another machine, written by a bundle's `drive.py`.

use std::{fs, path::Path};

use anyhow::{Context, bail, ensure};
use fuse_bench_results::{
    bars::Bars,
    line::{Cost, Line, Suite},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    lines::{self, First, Place},
    show, specializations, store,
    visits::FIRST,
};

/// Line of the file.
#[derive(Debug, Deserialize)]
struct Visit {
    visit: String,
    browser: String,
    flags: String,
    adapter: String,
    host: String,
    date: String,
    commit: String,
    seconds: f64,
    said: Option<Value>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Test {
    test: String,
    passed: bool,
}

/// Microseconds for all launches, by way to launch.
#[derive(Debug, Deserialize)]
struct Way {
    way: String,
    launches: u32,
    /// Host time alone.
    host_us: f64,
    /// Until the GPU was done.
    total_us: f64,
    least_us: f64,
    most_us: f64,
}

#[derive(Debug, Deserialize)]
struct Packing {
    way: String,
    matrices: u32,
    median_us: f64,
    min_us: f64,
    max_us: f64,
}

#[derive(Debug, Deserialize)]
struct Product {
    way: String,
    size: u32,
    median_us: f64,
    min_us: f64,
    max_us: f64,
}

#[derive(Debug, Deserialize)]
struct Tuned {
    name: String,
    text: String,
}

const MEASURED: [&str; 3] = ["specializations", "held out", "f16"];

const BY_HAND: &str = "by hand";

/// Prints results of a file, and writes results and tables to a folder.
///
/// # Errors
/// If the file cannot be read, a visit failed, or our own values are wrong.
pub(super) fn report(file: &Path, out: Option<&Path>) -> anyhow::Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let visits = visits(&text).with_context(|| format!("file `{}`", file.display()))?;
    let mut printed = false;
    for visit in &visits {
        let Some(said) = &visit.said else { continue };
        match &*visit.visit {
            measured if MEASURED.contains(&measured) => print_measured(visit, said, out)?,
            "packing" => print_packings(said)?,
            "eight bits" => print_products(said)?,
            "tune" => keep_tables(said, out)?,
            _ => continue,
        }
        printed = true;
    }
    let lines = lines(&visits)?;
    if lines.is_empty() {
        ensure!(printed, "`{}` holds no results", file.display());
        return Ok(());
    }
    show(&lines, &Bars::load()?);
    match out {
        Some(out) => store(&lines, out, &file.file_stem().unwrap_or_default().to_string_lossy()),
        None => Ok(()),
    }
}

fn visits(text: &str) -> anyhow::Result<Vec<Visit>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let visit: Visit =
                serde_json::from_str(line).with_context(|| format!("line {} is no visit", number + 1))?;
            if let Some(error) = &visit.error {
                bail!("line {}: the visit `{}` failed: {error}", number + 1, visit.visit);
            }
            Ok(visit)
        })
        .collect()
}

/// Without weights, which another run measures.
fn lines(visits: &[Visit]) -> anyhow::Result<Vec<Line>> {
    let said = |name: &'static str| {
        visits.iter().filter(move |visit| visit.visit == name).filter_map(|visit| Some((visit, visit.said.clone()?)))
    };
    let mut lines = vec![];
    for (visit, found) in said("compare").chain(said("minilm")) {
        let first = FIRST.map(|(name, way)| First { way, milliseconds: first(visits, name) });
        let first = if visit.visit == "compare" { &first[..] } else { &[] };
        let adapter = Some(&*visit.adapter).filter(|adapter| !adapter.is_empty());
        let Visit { browser, host, date, commit, .. } = visit;
        let place = Place { browser, adapter, host, date, commit };
        lines.extend(lines::lines(lines::compared(found)?, first, vec![], &place)?);
    }
    for (_, said) in said("launches") {
        lines.extend(costs(&said)?);
    }
    for visit in visits {
        if let (Some(name), Some(said)) = (visit.visit.strip_prefix("tests "), &visit.said) {
            lines.push(suite(name, visit, said)?);
        }
    }
    Ok(lines)
}

/// The first such visit yields tables; the others judge choices and measure matrices.
fn print_measured(visit: &Visit, said: &Value, out: Option<&Path>) -> anyhow::Result<()> {
    println!("\n==> {}", visit.visit);
    let found = specializations::parse(said.clone())?;
    let place = specializations::Place::chromium(found.vendor(), &visit.adapter, &visit.browser, &visit.date);
    specializations::report(&found, &place, out.filter(|_| visit.visit == MEASURED[0]))
}

/// Per layout of 3-bit weights.
fn print_packings(said: &Value) -> anyhow::Result<()> {
    let packings: Vec<Packing> =
        serde_json::from_value(said["times"].clone()).context("a page of packings without times")?;
    println!("\n==> packing: one row times {}x{} weights of 3 bits", said["depth"], said["columns"]);
    for Packing { way, matrices, median_us, min_us, max_us } in packings {
        println!("{way:16} {matrices:3} matrices in turn {median_us:9.1} us ({min_us:.1} to {max_us:.1})");
    }
    Ok(())
}

fn print_products(said: &Value) -> anyhow::Result<()> {
    let products: Vec<Product> =
        serde_json::from_value(said["times"].clone()).context("a page of products without times")?;
    println!("\n==> eight bits: square products in subgroup matrices");
    let lacking: Vec<String> =
        serde_json::from_value(said["lacking"].clone()).context("a page of products without what the adapter lacks")?;
    if !lacking.is_empty() {
        println!("not measured: the adapter lacks {}", lacking.join(", "));
    }
    for Product { way, size, median_us, min_us, max_us } in products {
        let tera_ops = 2.0 * f64::from(size).powi(3) / median_us / 1e6;
        println!("{size:5} {way:18} {median_us:9.1} us ({min_us:.1} to {max_us:.1}) {tera_ops:6.1} TOP/s");
    }
    Ok(())
}

fn keep_tables(said: &Value, out: Option<&Path>) -> anyhow::Result<()> {
    let tables: Vec<Tuned> = serde_json::from_value(said["tables"].clone()).context("a tuner without tables")?;
    for Tuned { name, text } in tables {
        println!("\n==> tune: `{name}`, {} entries", text.matches("[[entry]]").count());
        match out {
            Some(out) => {
                fs::create_dir_all(out).with_context(|| format!("cannot create `{}`", out.display()))?;
                let file = out.join(&name).with_extension("toml");
                fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
                println!("{}", file.display());
            }
            None => print!("{text}"),
        }
    }
    Ok(())
}

/// Milliseconds, once per visit.
fn first(visits: &[Visit], library: &str) -> Vec<f64> {
    let of = visits.iter().filter(|visit| visit.visit == format!("first {library}"));
    of.filter_map(|visit| visit.said.as_ref()?["milliseconds"].as_f64()).collect()
}

fn costs(said: &Value) -> anyhow::Result<Vec<Line>> {
    let ways: Vec<Way> = serde_json::from_value(said["times"].clone()).context("a page of launches without times")?;
    let hand = ways.iter().find(|way| way.way == BY_HAND).context("no launches by hand")?;
    let cost = |way: &Way| {
        let above = |time: f64, by_hand: f64| (way.way != BY_HAND).then_some(time - by_hand);
        Line::Cost(Cost {
            case: format!("{} dependent launches in a page, {}", way.launches, way.way),
            median_us: way.total_us,
            min_us: way.least_us,
            max_us: way.most_us,
            above_by_hand_us: above(way.total_us, hand.total_us),
            recording_us: Some(way.host_us),
            recording_above_by_hand_us: above(way.host_us, hand.host_us),
            launches_per_batch: way.launches,
        })
    };
    Ok(ways.iter().map(cost).collect())
}

fn suite(name: &str, visit: &Visit, said: &Value) -> anyhow::Result<Line> {
    let tests: Vec<Test> = serde_json::from_value(said["tests"].clone()).context("a suite without tests")?;
    let failed = tests.iter().filter(|test| !test.passed).map(|test| test.test.clone()).collect();
    Ok(Line::Suite(Suite {
        name: name.to_owned(),
        adapter: visit.adapter.clone(),
        browser: visit.browser.clone(),
        flags: visit.flags.clone(),
        date: visit.date.clone(),
        commit: visit.commit.clone(),
        tests: tests.len(),
        failed,
        seconds: visit.seconds,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(visit: &str, key: &str, value: Value) -> String {
        let mut line = json!({ "visit": visit, "page": "", "browser": "chrome 1", "flags": "f16", "adapter": "a GPU",
                               "host": "a host", "date": "2026-11-27", "commit": "abc", "seconds": 1.5 });
        line[key] = value;
        line.to_string()
    }

    #[test]
    fn suites_are_results() {
        let tests =
            json!({ "tests": [{ "test": "a", "passed": true }, { "test": "b", "passed": false, "output": "" }] });
        let [Line::Suite(suite)] = &lines(&visits(&line("tests window", "said", tests)).unwrap()).unwrap()[..] else {
            panic!("one suite")
        };
        assert_eq!((&*suite.name, suite.tests, &suite.failed[..]), ("window", 2, &["b".to_owned()][..]));
    }

    #[test]
    fn launches_are_compared_with_those_by_hand() {
        let way = |way: &str, host: f64| json!({ "way": way, "launches": 64, "host_us": host, "total_us": 2.0 * host, "least_us": host, "most_us": 9.0 });
        let found = costs(&json!({ "times": [way("launched", 40.0), way("by hand", 30.0)] })).unwrap();
        let above = found.iter().map(|line| match line {
            Line::Cost(cost) => (cost.above_by_hand_us, cost.recording_above_by_hand_us),
            other => panic!("{other:?}"),
        });
        assert_eq!(above.collect::<Vec<_>>(), [(Some(20.0), Some(10.0)), (None, None)]);
    }

    #[test]
    fn tables_are_kept_and_packings_have_times() {
        let folder = std::env::temp_dir().join(format!("fuse-baselines-kept-{}", std::process::id()));
        let said = json!({ "tables": [{ "name": "minilm-1x128", "text": "[[entry]]\n" }] });
        keep_tables(&said, Some(&folder)).unwrap();
        assert_eq!(fs::read_to_string(folder.join("minilm-1x128.toml")).unwrap(), "[[entry]]\n");
        fs::remove_dir_all(folder).unwrap();
        let without_times = json!({ "times": [{}] });
        assert!(keep_tables(&json!({}), None).is_err());
        assert!(print_packings(&without_times).is_err() && print_products(&without_times).is_err());
    }

    #[test]
    fn failed_visits_are_no_results() {
        let error = visits(&line("compare", "error", json!("no adapter"))).unwrap_err().to_string();
        assert!(error.contains("line 1: the visit `compare` failed: no adapter"), "{error}");
        assert!(visits("{}").is_err());
    }

    #[test]
    fn first_results_are_those_of_their_library() {
        let text = [("first ort", 3.0), ("first fuse", 1.0), ("first ort", 4.0)];
        let text = text.map(|(visit, time)| line(visit, "said", json!({ "milliseconds": time }))).join("\n");
        assert_eq!(first(&visits(&text).unwrap(), "ort"), [3.0, 4.0]);
    }
}
