//! Bars: targets of results (`benches/bars.toml`), and how results meet them.
//!
//! Bars hold for one class of adapters; others show them unjudged.

use std::fmt;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::{
    line::{COPY, OURS, Pair},
    results::{Key, Results},
};

const TEXT: &str = include_str!("../../bars.toml");

/// All bars.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// Part of the names of adapters that are judged.
    pub adapter: String,
    /// Least ratio of unfused to fused time, for any function.
    pub never_slower: f64,
    bar: Vec<Bar>,
    reference: Vec<Group>,
    /// Bars for browsers.
    pub browsers: BrowserBars,
}

/// Bars for pages against other libraries in the same browser, on any adapter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserBars {
    /// Least ratio of the better library's time to ours, per case.
    pub faster: f64,
    /// Least ratio of the better library's first result to ours.
    pub first_result_sooner: f64,
    /// Least ratio of TensorFlow.js's compressed bytes to ours.
    pub fewer_bytes_than_tensorflow: f64,
    /// Least ratio of ONNX Runtime Web's compressed bytes to ours.
    pub fewer_bytes_than_onnx: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Group {
    cases: Vec<String>,
    #[serde(default = "floats")]
    dtype: String,
    #[serde(default)]
    sizes: Vec<String>,
}

fn floats() -> String {
    "f32".to_owned()
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Bar {
    #[serde(flatten)]
    group: Group,
    #[serde(flatten)]
    limit: Limit,
    from: String,
}

/// Target of a case.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Time.
    AtMostUs(f64),
    /// Host time above that of hand-written wgpu.
    AtMostUsAboveByHand(f64),
    /// Arithmetic rate.
    AtLeastTflops(f64),
    /// Bandwidth over the hand-written copy's, of the same size and run.
    AtLeastOfCopy(f64),
    /// Time over another library's in the same run.
    AtMostTimes {
        /// Library, as a [`Time::way`](crate::line::Time::way).
        rival: String,
        /// Largest ratio.
        times: f64,
    },
    /// Time over that of another case of ours, of the same dtype and size.
    AtMostTimesOf {
        /// Other case.
        case: String,
        /// Largest ratio.
        times: f64,
    },
    /// Bandwidth over the run's largest hand-written copy's, for sizes without a copy.
    AtLeastOfLargestCopy(f64),
    /// Unfused over fused time.
    AtLeastRatio(f64),
}

/// Judged case.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict<'a> {
    /// Case.
    pub key: Key<'a>,
    /// Target.
    pub limit: &'a Limit,
    /// Source of the bar.
    pub from: &'a str,
    /// Value in the limit's unit; `None` if it or its reference was not measured.
    pub value: Option<f64>,
    /// True if met; `None` if not measured or not for this adapter.
    pub met: Option<bool>,
}

impl Bars {
    /// Loads this project's bars.
    ///
    /// # Errors
    /// If `benches/bars.toml` is not a list of bars.
    pub fn load() -> anyhow::Result<Self> {
        Self::parse(TEXT).context("benches/bars.toml")
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let bars: Self = toml::from_str(text)?;
        for bar in &bars.bar {
            let rival = match &bar.limit {
                Limit::AtMostTimes { rival, .. } => Some(&**rival),
                _ => None,
            };
            ensure!(rival.is_none_or(|rival| crate::line::RIVALS.contains(&rival)), "no rival is called {rival:?}");
            let needs_sizes =
                !matches!(bar.limit, Limit::AtMostUs(_) | Limit::AtMostUsAboveByHand(_) | Limit::AtLeastRatio(_));
            ensure!(!needs_sizes || !bar.group.sizes.is_empty(), "a bar without sizes: {:?}", bar.group.cases);
        }
        Ok(bars)
    }

    /// Cases with a bar on their time, or referred to by one, once each.
    pub fn cases(&self) -> Vec<Key<'_>> {
        let timed = self.bar.iter().filter(|bar| !matches!(bar.limit, Limit::AtLeastRatio(_)));
        let groups = timed.map(|bar| &bar.group).chain(&self.reference);
        once(groups.flat_map(Group::keys).filter(|key| !key.size.is_empty()))
    }

    /// Host costs with a bar, once each.
    pub fn costs(&self) -> Vec<&str> {
        let keys = self.bar.iter().flat_map(|bar| bar.group.keys().map(move |key| (key, &bar.limit)));
        let costs = keys.filter(|(key, limit)| key.size.is_empty() && !matches!(limit, Limit::AtLeastRatio(_)));
        once(costs.map(|(key, _)| key)).into_iter().map(|key| key.case).collect()
    }

    /// Cases with a bar on unfused over fused time at a given size.
    pub fn pairs(&self) -> Vec<Key<'_>> {
        let ratios = self.bar.iter().filter(|bar| matches!(bar.limit, Limit::AtLeastRatio(_)));
        once(ratios.flat_map(|bar| bar.group.keys()).filter(|key| !key.size.is_empty()))
    }

    /// Ratio of a pair in a source document.
    pub fn source_ratio(&self, case: &str, dtype: &str, size: &str) -> Option<f64> {
        self.bar.iter().find_map(|bar| match bar.limit {
            Limit::AtLeastRatio(ratio) if bar.from == "sources" && bar.group.covers(case, dtype, size) => Some(ratio),
            _ => None,
        })
    }

    /// True if this adapter is judged.
    pub fn are_for(&self, adapter: &str) -> bool {
        adapter.contains(&self.adapter)
    }

    /// Judges by every bar.
    pub fn judge<'a>(&'a self, results: &'a Results) -> Vec<Verdict<'a>> {
        let judged = self.are_for(results.adapter());
        let verdict = |bar: &'a Bar, key: Key<'a>| {
            let value = bar.limit.value(results, key);
            let met = value.filter(|_| judged).map(|value| bar.limit.is_met(value));
            Verdict { key, limit: &bar.limit, from: &bar.from, value, met }
        };
        let keys = |bar: &'a Bar| match bar.limit {
            Limit::AtLeastRatio(_) if bar.group.sizes.is_empty() => extremes(&bar.group, &results.pairs),
            _ => bar.group.keys().collect(),
        };
        self.bar.iter().flat_map(|bar| keys(bar).into_iter().map(move |key| verdict(bar, key))).collect()
    }
}

impl Group {
    fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        let sizes = move || self.sizes.iter().map(String::as_str).chain(self.sizes.is_empty().then_some(""));
        self.cases.iter().flat_map(move |case| sizes().map(move |size| Key { case, dtype: &self.dtype, size }))
    }

    fn covers(&self, case: &str, dtype: &str, size: &str) -> bool {
        self.dtype == dtype
            && self.cases.iter().any(|covered| covered == case)
            && (self.sizes.is_empty() || self.sizes.iter().any(|covered| covered == size))
    }
}

/// Smallest and largest measured size.
fn extremes<'a>(group: &'a Group, pairs: &'a [Pair]) -> Vec<Key<'a>> {
    let of = |case: &'a String| {
        let measured = move || pairs.iter().filter(move |pair| pair.case == *case && pair.dtype == group.dtype);
        let ends = [measured().min_by_key(|pair| pair.extent), measured().max_by_key(|pair| pair.extent)];
        let sizes = ends.map(|pair| pair.map_or("", |pair| &*pair.size));
        let keys = sizes.map(|size| Key { case, dtype: &group.dtype, size });
        once(keys.into_iter())
    };
    group.cases.iter().flat_map(of).collect()
}

fn once<'a>(keys: impl Iterator<Item = Key<'a>>) -> Vec<Key<'a>> {
    let mut seen = vec![];
    for key in keys {
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    seen
}

impl Limit {
    /// Value in the limit's unit.
    fn value(&self, results: &Results, key: Key<'_>) -> Option<f64> {
        let time = results.find(OURS, key);
        let cost = || results.costs.iter().find(|cost| cost.case == key.case && key.size.is_empty());
        match self {
            Self::AtMostUs(_) => time.map(|time| time.median_us).or_else(|| Some(cost()?.median_us)),
            Self::AtMostUsAboveByHand(_) => cost()?.above_by_hand_us,
            Self::AtLeastTflops(_) => Some(time?.teraflops()),
            Self::AtLeastOfCopy(_) => {
                let copy = results.find(OURS, Key { case: COPY, dtype: "f32", size: key.size })?;
                Some(time?.gigabytes() / copy.gigabytes())
            }
            Self::AtLeastOfLargestCopy(_) => Some(time?.gigabytes() / results.roof()?.copy_gb_per_s),
            Self::AtMostTimes { rival, .. } => Some(time?.median_us / results.find(rival, key)?.median_us),
            Self::AtMostTimesOf { case, .. } => {
                Some(time?.median_us / results.find(OURS, Key { case, ..key })?.median_us)
            }
            Self::AtLeastRatio(_) => {
                let of = |pair: &&Pair| (&*pair.case, &*pair.dtype, &*pair.size) == (key.case, key.dtype, key.size);
                results.pairs.iter().find(of).map(|pair| pair.wall.ratio)
            }
        }
    }

    fn is_met(&self, value: f64) -> bool {
        match *self {
            Self::AtMostUs(most)
            | Self::AtMostUsAboveByHand(most)
            | Self::AtMostTimes { times: most, .. }
            | Self::AtMostTimesOf { times: most, .. } => value <= most,
            Self::AtLeastTflops(least)
            | Self::AtLeastOfCopy(least)
            | Self::AtLeastOfLargestCopy(least)
            | Self::AtLeastRatio(least) => value >= least,
        }
    }

    /// Formats a value in the limit's unit.
    pub fn show(&self, value: f64) -> String {
        match self {
            Self::AtMostUs(_) | Self::AtMostUsAboveByHand(_) => format!("{value:.1} µs"),
            Self::AtLeastTflops(_) => format!("{value:.0} TFLOP/s"),
            Self::AtLeastOfCopy(_) | Self::AtLeastOfLargestCopy(_) => format!("{:.0} %", value * 100.0),
            Self::AtMostTimes { .. } | Self::AtMostTimesOf { .. } | Self::AtLeastRatio(_) => format!("{value:.2} ×"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMostUs(us) => write!(f, "≤ {us} µs"),
            Self::AtMostUsAboveByHand(us) => write!(f, "≤ {us} µs above by hand"),
            Self::AtLeastTflops(rate) => write!(f, "≥ {rate} TFLOP/s"),
            Self::AtLeastOfCopy(part) => write!(f, "≥ {:.0} % of copy", part * 100.0),
            Self::AtLeastOfLargestCopy(part) => write!(f, "≥ {:.0} % of the largest copy", part * 100.0),
            Self::AtMostTimes { rival, times } => write!(f, "≤ {times:.2} × {rival}"),
            Self::AtMostTimesOf { case, times } => write!(f, "≤ {times:.2} × {case}"),
            Self::AtLeastRatio(ratio) => write!(f, "unfused ≥ {ratio:.2} × fused"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        line::{BURN, COMPILED, Cost, Line, Roof, Time},
        results::tests::{run, time},
    };

    const LINEAR: [&str; 3] = ["relu(matmul + b + r)", "f32", "1024x1024x1024"];

    fn verdict<'a>(verdicts: &'a [Verdict<'a>], case: [&str; 3], limit: &str) -> &'a Verdict<'a> {
        let [case, dtype, size] = case;
        let key = Key { case, dtype, size };
        let found = verdicts.iter().find(|verdict| verdict.key == key && verdict.limit.to_string() == limit);
        found.unwrap_or_else(|| panic!("no bar `{limit}` for {key:?}"))
    }

    #[test]
    fn bars_are_met_missed_or_unknown() {
        let bars = Bars::load().unwrap();
        let mut results = Results::default();
        results.add(Line::Run(run(OURS, "NVIDIA H200")));
        results.add(Line::Roof(Roof { copy_gb_per_s: 1.0, dispatch_us: 1.0, f32_tflops: 1.0, matrices_tflops: None }));
        for time in [time(OURS, LINEAR, 11.2), time(COMPILED, LINEAR, 10.0), time(BURN, LINEAR, 22.4)] {
            results.add(Line::Time(time));
        }
        let chain = ["relu(a + b)", "f32", "2^24"];
        results.add(Line::Time(Time { bytes: 3e6, ..time(OURS, chain, 6.2) }));
        results.add(Line::Time(Time { bytes: 2e6, ..time(OURS, [COPY, "f32", "2^24"], 4.0) }));
        results.add(Line::Time(time(OURS, ["attention", "f16", "32x1024x1024x64"], 70.0)));
        let launch = Cost {
            case: "launch".to_owned(),
            median_us: 5.0,
            min_us: 5.0,
            max_us: 5.0,
            above_by_hand_us: Some(3.5),
            recording_us: None,
            recording_above_by_hand_us: None,
            launches_per_batch: 1,
        };
        results.add(Line::Cost(launch));
        let verdicts = bars.judge(&results);
        let met = |case, limit| verdict(&verdicts, case, limit).met;
        assert_eq!(met(LINEAR, "≤ 1.10 × torch.compile + CUDA graph"), Some(false));
        assert_eq!(met(LINEAR, "≤ 0.50 × Burn"), Some(true));
        assert_eq!(met(chain, "≥ 95 % of copy"), Some(true));
        assert_eq!(met(["relu(a + b)", "f32", "2^26"], "≥ 95 % of copy"), None);
        assert_eq!(met(["attention", "f16", "32x1024x1024x64"], "≤ 70 µs"), Some(true));
        assert_eq!(met(["launch", "f32", ""], "≤ 3 µs above by hand"), Some(false));

        results.runs[0].adapter = "llvmpipe".to_owned();
        let elsewhere = bars.judge(&results);
        let burn = verdict(&elsewhere, LINEAR, "≤ 0.50 × Burn");
        assert_eq!((burn.value, burn.met), (Some(0.5), None));
    }

    #[test]
    fn source_ratios_are_of_floats() {
        let bars = Bars::load().unwrap();
        let ratio = |case, dtype, size| bars.source_ratio(case, dtype, size);
        assert_eq!(ratio("relu(a + b)", "f32", "2^8"), Some(2.13));
        assert_eq!(ratio("relu(matmul + b + r)", "f32", "256x256x256"), Some(2.12));
        assert_eq!(ratio("relu(matmul + b + r)", "f32", "512x512x512"), None);
        assert_eq!(ratio("relu(a + b)", "f16", "2^8"), None);
    }

    #[test]
    fn mistakes_in_bars_are_errors() {
        let with = |bar: &str| Bars::parse(&format!("{TEXT}\n[[bar]]\ncases = [\"x\"]\nfrom = \"a test\"\n{bar}"));
        assert!(with("sizes = [\"1\"]\nat_most_us = 2.0").is_ok());
        assert!(with("sizes = [\"1\"]").is_err());
        assert!(with("at_least_tflops = 2.0").is_err());
        assert!(with("sizes = [\"1\"]\nat_most_times = { rival = \"nobody\", times = 1.0 }").is_err());
        assert!(with("sizes = [\"1\"]\nat_moist_us = 2.0").is_err());
    }
}
