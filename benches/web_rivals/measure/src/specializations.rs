//! Results of the page of specializations: a tuning table of the browser's adapter, and gains of specializations.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use anyhow::Context;
use fuse_bench_results::machine;
use serde::Deserialize;
use serde_json::Value;

use crate::checkout::Browser;

/// Tables hold variants within this factor of the fastest (`fuse_gpu::CUT_OFF`).
const CUT_OFF: f64 = 2.0;
/// Estimated factor beyond which the page (`specializations.html`) skips variants.
const WITHIN: f64 = 3.0;
/// With baselines.
const COMPARED: [(&str, &str); 6] = [
    ("unroll 2", "unroll 1"),
    ("unroll 4", "unroll 1"),
    ("if", ""),
    ("switch", ""),
    ("bounds checks", ""),
    ("fast math", ""),
];

#[derive(Debug, Deserialize)]
pub(super) struct Specializations {
    adapter: String,
    cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    size: String,
    /// Tuning class, then sizes; empty for launches of several kernels.
    key: Vec<String>,
    /// The runtime's choices, and why.
    decided: Vec<String>,
    overrides: Vec<(String, String)>,
    variants: Vec<Timed>,
    specializations: Vec<Timed>,
}

#[derive(Debug, Deserialize)]
struct Timed {
    form: String,
    /// With compilation and readback.
    first_ms: f64,
    median_us: f64,
    min_us: f64,
    max_us: f64,
}

pub(super) fn parse(value: Value) -> anyhow::Result<Specializations> {
    serde_json::from_value(value).context("the page's result is not what this program expects")
}

impl Case {
    fn variants(&self) -> Vec<(&str, &Timed)> {
        let mut all: Vec<_> =
            self.variants.iter().filter_map(|form| Some((form.form.strip_prefix("variant ")?, form))).collect();
        // By fastest round: on software adapters, other programs only add time.
        all.sort_by(|a, b| a.1.min_us.total_cmp(&b.1.min_us));
        all
    }

    /// Relative time of the runtime's choice, for launches of one kernel.
    fn choice(&self) -> Option<f64> {
        let [decided] = &self.decided[..] else { return None };
        let (chosen, _) = decided.split_once(" (")?;
        let variants = self.variants();
        let (_, fastest) = variants.first()?;
        let chosen = variants.iter().find(|(name, _)| *name == chosen);
        Some(chosen.map_or(WITHIN, |(_, form)| form.min_us / fastest.min_us))
    }

    fn of(&self, form: &str) -> Option<f64> {
        self.specializations.iter().find(|time| time.form == form).map(|time| time.min_us)
    }
}

/// Environment of a table.
pub(super) struct Place {
    environment: &'static str,
    vendor: String,
    /// Parts of adapters' names; empty for all of the vendor.
    names: Vec<String>,
    /// System's name of the adapter; empty to use the browser's.
    adapter: String,
    /// With its version.
    driver: String,
    date: String,
}

impl Place {
    /// `system` names the adapter if the browser does not.
    pub(super) fn software(browser: Browser, version: &str, system: Option<&str>) -> Self {
        let (environment, names, adapter) = match browser {
            Browser::Chromium => ("chrome", vec!["swiftshader".to_owned()], String::new()),
            Browser::Firefox => ("firefox", vec![], system.unwrap_or_default().to_owned()),
        };
        let (vendor, driver) = ("software".to_owned(), version.to_owned());
        Self { environment, vendor, names, adapter, driver, date: machine::today() }
    }

    /// `adapter` is the system's name.
    pub(super) fn chromium(vendor: &str, adapter: &str, version: &str, date: &str) -> Self {
        let [vendor, adapter, driver, date] = [vendor, adapter, version, date].map(str::to_owned);
        Self { environment: "chrome", vendor, names: vec![], adapter, driver, date }
    }

    fn stem(&self) -> String {
        format!("{}-{}", self.environment, self.vendor)
    }
}

impl Specializations {
    pub(super) fn vendor(&self) -> &str {
        self.adapter.split(' ').next().unwrap_or_default()
    }

    /// Gains are geometric means over cases with both measurements.
    pub(super) fn show(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            let _ = writeln!(text, "{} {}: {}", case.name, case.size, case.decided.join("; "));
            for form in case.variants.iter().chain(&case.specializations) {
                let name = if form.form.is_empty() { "the fastest" } else { &form.form };
                let Timed { first_ms, median_us, min_us, max_us, .. } = form;
                let _ = writeln!(
                    text,
                    "  {name:40} {median_us:12.1} µs ({min_us:.1} .. {max_us:.1}), the first time {first_ms:.0} ms"
                );
            }
            for (overridden, variant) in &case.overrides {
                let _ = writeln!(text, "  {overridden} is {variant}");
            }
        }
        let choices = self.cases.iter().filter_map(|case| Some((case.choice()?, case)));
        if let Some((worst, case)) = choices.clone().max_by(|(a, _), (b, _)| a.total_cmp(b)) {
            let (sum, count) = choices.fold((0.0, 0), |(sum, count), (ratio, _)| (sum + ratio, count + 1));
            let (mean, name) = (sum / f64::from(count), format!("{} {}", case.name, case.size));
            let _ = writeln!(
                text,
                "choice: {mean:.3} of the fastest on average of {count} cases, at most {worst:.3} ({name})"
            );
        }
        for (form, other) in COMPARED {
            let ratios: Vec<f64> =
                self.cases.iter().filter_map(|case| Some((case.of(form)? / case.of(other)?).ln())).collect();
            let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
            let other = if other.is_empty() { "the fastest variant" } else { other };
            let _ = writeln!(text, "{form}: {mean:.3} of the time of {other}, {} cases", ratios.len());
        }
        text
    }

    /// In the format of `docs/tuning.md`.
    pub(super) fn table(&self, place: &Place) -> String {
        let Place { environment, vendor, names, driver, date, .. } = place;
        let known = [&*place.adapter, &self.adapter, "unknown"].into_iter().find(|name| !name.is_empty());
        let adapter = known.unwrap_or_default();
        let mut text = format!(
            "format = 1\nstatus = \"measured\"\nenvironment = \"{environment}\"\n\n[adapters]\nvendor = \"{vendor}\"\n\
             names = {names:?}\n\n[measured]\nadapter = \"{adapter}\"\ndriver = \"{driver}\"\ndate = \"{date}\"\n",
        );
        let mut entries = BTreeMap::new();
        for case in &self.cases {
            if let ([class, sizes @ ..], Some(entry)) = (&case.key[..], case.entry()) {
                let order: Vec<u64> = sizes.iter().filter_map(|size| size.parse().ok()).collect();
                let sizes = sizes.join(", ");
                entries.insert((class.clone(), order), format!("class = \"{class}\"\nsizes = [{sizes}]\n{entry}"));
            }
        }
        entries.values().for_each(|entry| text += &format!("\n[[entry]]\n{entry}"));
        text
    }
}

impl Case {
    fn entry(&self) -> Option<String> {
        // Only one choice: no entry.
        if self.decided.iter().any(|decided| decided.ends_with("(the only one)")) {
            return None;
        }
        let variants = self.variants();
        let (_, fastest) = variants.first()?;
        let schedule = |(name, form): &(&str, &Timed)| {
            let relative = form.min_us / fastest.min_us;
            (relative <= CUT_OFF).then(|| format!("[\"{name}\", {:?}]", (relative * 1000.0).round() / 1000.0))
        };
        let schedules: Vec<String> = variants.iter().filter_map(schedule).collect();
        Some(format!("microseconds = {:.1}\nschedules = [{}]\n", fastest.min_us, schedules.join(", ")))
    }
}

pub(super) fn report(found: &Specializations, place: &Place, out: Option<&Path>) -> anyhow::Result<()> {
    println!("\n{}", found.show());
    let Some(out) = out else { return Ok(()) };
    fs::create_dir_all(out).with_context(|| format!("cannot create `{}`", out.display()))?;
    let path = out.join(format!("{}.toml", place.stem()));
    fs::write(&path, found.table(place)).with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn specializations() -> Specializations {
        let time = |form: &str, us: f64| {
            let [median, max] = [us * 2.0, us * 3.0];
            json!({ "form": form, "first_ms": 1.0, "median_us": median, "min_us": us, "max_us": max })
        };
        let variants = [time("variant slow", 25.0), time("variant b", 12.5), time("variant a", 10.0)];
        let specializations = [time("", 10.0), time("unroll 1", 10.0), time("unroll 4", 5.0)];
        parse(json!({ "adapter": "", "cases": [{
            "name": "softmax", "size": "8x8", "key": ["reduction f32 rows", "8", "16"], "decided": ["a (estimate)"],
            "overrides": [["tile 8", "b"]], "variants": variants, "specializations": specializations,
        }]}))
        .unwrap()
    }

    #[test]
    fn entries_hold_the_faster_variants_in_order() {
        let text = specializations().table(&Place::software(Browser::Firefox, "firefox 1", Some("llvmpipe")));
        let entry = "[[entry]]\nclass = \"reduction f32 rows\"\nsizes = [8, 16]\nmicroseconds = 10.0\n\
                     schedules = [[\"a\", 1.0], [\"b\", 1.25]]\n";
        assert!(text.ends_with(entry), "{text}");
        assert!(text.contains("environment = \"firefox\"") && text.contains("adapter = \"llvmpipe\""), "{text}");
    }

    #[test]
    fn choices_are_compared_with_the_fastest() {
        let mut found = specializations();
        assert!(
            found.show().contains("choice: 1.000 of the fastest on average of 1 cases, at most 1.000"),
            "{}",
            found.show()
        );
        found.cases[0].decided = vec!["slow (estimate)".to_owned()];
        assert_eq!(found.cases[0].choice(), Some(2.5));
        found.cases[0].decided = vec!["slower (estimate)".to_owned()];
        assert_eq!(found.cases[0].choice(), Some(WITHIN));
    }

    #[test]
    fn specializations_are_compared_where_both_were_measured() {
        let text = specializations().show();
        assert!(text.contains("unroll 4: 0.500 of the time of unroll 1, 1 cases"), "{text}");
        assert!(text.contains("switch: 1.000 of the time of the fastest variant, 0 cases"), "{text}");
    }
}
