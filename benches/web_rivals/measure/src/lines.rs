//! Lines of a results file, from pages' reports.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use fuse_bench_results::line::{Difference, FIRST_RESULT, LeftOut, Line, OURS, Run, Time, Weight};
use serde::Deserialize;

/// Relative to the larger of the expected element and 0.001.
const MOST_ERROR: f64 = 1e-3;
const DTYPE: &str = "f32";

#[derive(Debug, Deserialize)]
pub(super) struct Compared {
    /// By library; Firefox names none.
    adapters: Vec<Option<String>>,
    versions: BTreeMap<String, String>,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    size: String,
    flops: f64,
    bytes: f64,
    times: Vec<Form>,
    left_out: Vec<Missing>,
}

#[derive(Debug, Deserialize)]
struct Form {
    way: String,
    form: String,
    /// `None` if an element was NaN.
    error: Option<f64>,
    from_ours: Option<f64>,
    median_us: f64,
    min_us: f64,
    max_us: f64,
    batches: usize,
    launches: u32,
}

#[derive(Debug, Deserialize)]
struct Missing {
    way: String,
    reason: String,
}

/// Once per visit.
pub(super) struct First {
    pub(super) way: &'static str,
    pub(super) milliseconds: Vec<f64>,
}

pub(super) struct Place<'a> {
    pub(super) browser: &'a str,
    /// System's name of the adapter, for browsers that report none.
    pub(super) adapter: Option<&'a str>,
    pub(super) host: &'a str,
    pub(super) date: &'a str,
    pub(super) commit: &'a str,
}

/// All lines of a browser.
///
/// # Errors
/// If our own values are wrong, or nothing of ours was measured.
pub(super) fn lines(
    compared: Compared,
    first: &[First],
    weights: Vec<Weight>,
    place: &Place<'_>,
) -> anyhow::Result<Vec<Line>> {
    let mut lines = runs(&compared, place);
    for case in compared.cases {
        lines.extend(of_case(case)?);
    }
    lines.extend(first.iter().filter_map(of_first));
    lines.extend(weights.into_iter().map(Line::Weight));
    Ok(lines)
}

fn runs(compared: &Compared, place: &Place<'_>) -> Vec<Line> {
    let said = compared.adapters.iter().flatten().find(|name| !name.is_empty());
    let adapter = match (said, place.adapter) {
        (Some(said), Some(name)) if !is_software(said) => format!("{name}, of which the browser says `{said}`"),
        (Some(said), _) => said.clone(),
        (None, Some(name)) => format!("{name}, of which the browser says nothing"),
        (None, None) => "an adapter of which the browser says nothing".to_owned(),
    };
    let run = |(way, version): (&String, &String)| {
        let version = if way == OURS { env!("CARGO_PKG_VERSION") } else { version };
        Line::Run(Run {
            program: way.clone(),
            version: version.to_owned(),
            adapter: adapter.clone(),
            driver: place.browser.to_owned(),
            host: place.host.to_owned(),
            date: place.date.to_owned(),
            commit: place.commit.to_owned(),
        })
    };
    compared.versions.iter().map(run).collect()
}

fn is_software(said: &str) -> bool {
    said.contains("swiftshader")
}

fn of_case(case: Case) -> anyhow::Result<Vec<Line>> {
    let Case { name, size, flops, bytes, times, left_out } = case;
    let mut lines = vec![];
    let leave_out = |lines: &mut Vec<Line>, way: &str, reason: String| {
        let (way, dtype) = (way.to_owned(), DTYPE.to_owned());
        lines.push(Line::LeftOut(LeftOut { way, case: name.clone(), dtype, size: size.clone(), reason }));
    };
    for Missing { way, reason } in left_out {
        ensure!(way != OURS, "{name} {size}: {reason}");
        leave_out(&mut lines, &way, reason);
    }
    let right = |form: &Form| form.error.is_some_and(|error| error <= MOST_ERROR);
    for form in times.iter().filter(|form| !right(form)) {
        let error = form.error.map_or("no numbers".to_owned(), |error| format!("errors of {error:.1e}"));
        ensure!(form.way != OURS, "{name} {size}: our values have {error}");
        leave_out(&mut lines, &form.way, format!("wrong values, with {error} ({})", form.form));
    }
    for form in times.iter().filter(|form| right(form)) {
        let others = times.iter().filter(|other| right(other) && other.way == form.way);
        let several = others.clone().count() > 1;
        let fastest = others.map(|other| other.median_us).fold(f64::INFINITY, f64::min);
        lines.push(Line::Time(Time {
            way: form.way.clone(),
            case: name.clone(),
            dtype: DTYPE.to_owned(),
            size: size.clone(),
            variant: several.then(|| form.form.clone()),
            alternative: None,
            // The fastest of several forms counts.
            picked: form.median_us <= fastest,
            median_us: form.median_us,
            min_us: form.min_us,
            max_us: form.max_us,
            gpu_us: None,
            batches: form.batches,
            launches_per_batch: form.launches,
            flops,
            bytes,
            tokens: 0.0,
            of_roof: None,
            error_over_bound: form.error.map(|error| error / MOST_ERROR),
        }));
        if let Some(largest) = form.from_ours.filter(|_| form.way != OURS) {
            let (way, case) = (form.way.clone(), name.clone());
            lines.push(Line::Difference(Difference { way, case, size: size.clone(), largest }));
        }
    }
    Ok(lines)
}

fn of_first(First { way, milliseconds }: &First) -> Option<Line> {
    let mut sorted = milliseconds.clone();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(Line::Time(Time {
        way: (*way).to_owned(),
        case: FIRST_RESULT.to_owned(),
        dtype: DTYPE.to_owned(),
        size: "128x128x128".to_owned(),
        variant: None,
        alternative: None,
        picked: true,
        median_us: (sorted[last / 2] + sorted[last.div_ceil(2)]) * 500.0,
        min_us: sorted[0] * 1e3,
        max_us: sorted[last] * 1e3,
        gpu_us: None,
        batches: sorted.len(),
        launches_per_batch: 1,
        flops: 0.0,
        bytes: 0.0,
        tokens: 0.0,
        of_roof: None,
        error_over_bound: None,
    }))
}

pub(super) fn compared(value: serde_json::Value) -> anyhow::Result<Compared> {
    serde_json::from_value(value).context("the page's result is not what this program expects")
}

#[cfg(test)]
mod tests {
    use fuse_bench_results::line::{ONNX, TENSORFLOW};
    use serde_json::{Value, json};

    use super::*;

    fn form(way: &str, form: &str, median: f64, error: Value) -> Value {
        json!({ "way": way, "form": form, "error": error, "from_ours": 1e-6, "median_us": median, "min_us": 1.0,
                "max_us": 9.0, "batches": 3, "launches": 4 })
    }

    fn said(times: &[Value]) -> anyhow::Result<Vec<Line>> {
        let value = json!({
            "adapters": [null, ""], "versions": { OURS: "", TENSORFLOW: "4", ONNX: "1" },
            "cases": [{ "name": "softmax", "size": "8x8", "flops": 0, "bytes": 512, "times": times,
                        "left_out": [{ "way": TENSORFLOW, "reason": "no kernel" }] }],
        });
        let place = Place { browser: "firefox 1", adapter: Some("llvmpipe"), host: "", date: "", commit: "abc" };
        let first = [First { way: OURS, milliseconds: vec![30.0, 10.0, 20.0] }];
        lines(compared(value)?, &first, vec![], &place)
    }

    #[test]
    fn the_fastest_form_of_a_rival_counts() {
        let ours = form(OURS, "", 2.0, json!(1e-7));
        let lines = said(&[ours, form(ONNX, "a", 5.0, json!(1e-4)), form(ONNX, "b", 4.0, json!(0))]).unwrap();
        let times = lines.iter().filter_map(|line| match line {
            Line::Time(time) => Some((&*time.way, time.variant.as_deref(), time.picked, time.median_us)),
            _ => None,
        });
        let expected = [
            (OURS, None, true, 2.0),
            (ONNX, Some("a"), false, 5.0),
            (ONNX, Some("b"), true, 4.0),
            (OURS, None, true, 20_000.0),
        ];
        assert_eq!(times.collect::<Vec<_>>(), expected);
        let run = lines.iter().find_map(|line| match line {
            Line::Run(run) => Some(run),
            _ => None,
        });
        assert_eq!(run.unwrap().adapter, "llvmpipe, of which the browser says nothing");
        assert!(lines.iter().any(|line| matches!(line, Line::LeftOut(left) if left.reason == "no kernel")));
    }

    #[test]
    fn wrong_values_do_not_count() {
        let ours = form(OURS, "", 2.0, json!(1e-7));
        let lines = said(&[ours, form(ONNX, "a", 1.0, json!(0.1)), form(ONNX, "b", 4.0, json!(null))]).unwrap();
        let wrong = lines.iter().filter_map(|line| match line {
            Line::LeftOut(left) if left.way == ONNX => Some(&*left.reason),
            _ => None,
        });
        assert_eq!(
            wrong.collect::<Vec<_>>(),
            ["wrong values, with errors of 1.0e-1 (a)", "wrong values, with no numbers (b)"]
        );
        let error = said(&[form(OURS, "", 2.0, json!(0.5))]).unwrap_err().to_string();
        assert!(error.contains("our values"), "{error}");
    }
}
