//! Results, read from files of lines.

use anyhow::Context;

use crate::line::{Cost, Difference, LeftOut, Line, OURS, Pair, Roof, Run, Suite, Time, Weight};

/// Results in the order of measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Runs.
    pub runs: Vec<Run>,
    /// Peak rates, once per run that measured them.
    pub roofs: Vec<Roof>,
    /// Times of cases.
    pub times: Vec<Time>,
    /// Host costs.
    pub costs: Vec<Cost>,
    /// Fused against unfused functions.
    pub pairs: Vec<Pair>,
    /// Cases not measured.
    pub left_out: Vec<LeftOut>,
    /// Sizes of pages.
    pub weights: Vec<Weight>,
    /// Differences from our results.
    pub differences: Vec<Difference>,
    /// Tests in browsers.
    pub suites: Vec<Suite>,
}

impl Results {
    /// Parses a file.
    ///
    /// # Errors
    /// Names the line that does not parse, or precedes any run.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let mut results = Self::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line = serde_json::from_str(line).with_context(|| format!("line {} is no result", number + 1))?;
            anyhow::ensure!(
                matches!(line, Line::Run(_) | Line::Suite(_)) || !results.runs.is_empty(),
                "line {}: a result before the run that it belongs to",
                number + 1
            );
            results.add(line);
        }
        Ok(results)
    }

    /// Adds a line.
    pub fn add(&mut self, line: Line) {
        match line {
            Line::Run(run) => self.runs.push(run),
            Line::Roof(roof) => self.roofs.push(roof),
            Line::Time(time) => self.times.push(time),
            Line::Cost(cost) => self.costs.push(cost),
            Line::Pair(pair) => self.pairs.push(*pair),
            Line::LeftOut(left_out) => self.left_out.push(left_out),
            Line::Weight(weight) => self.weights.push(weight),
            Line::Difference(difference) => self.differences.push(difference),
            Line::Suite(suite) => self.suites.push(suite),
        }
    }

    /// Adapter of our run, else of the first.
    pub fn adapter(&self) -> &str {
        let ours = self.runs.iter().find(|run| run.program == OURS);
        ours.or(self.runs.first()).map_or("", |run| &run.adapter)
    }

    /// Median peak rates of all runs.
    pub fn roof(&self) -> Option<Roof> {
        Some(Roof {
            copy_gb_per_s: median(self.roofs.iter().map(|roof| roof.copy_gb_per_s))?,
            dispatch_us: median(self.roofs.iter().map(|roof| roof.dispatch_us))?,
            f32_tflops: median(self.roofs.iter().map(|roof| roof.f32_tflops))?,
            matrices_tflops: median(self.roofs.iter().filter_map(|roof| roof.matrices_tflops)),
        })
    }

    /// Time of a case with the variant that `way` chose: median, minimum and maximum over all measurements.
    pub fn find(&self, way: &str, key: Key<'_>) -> Option<Time> {
        let mut found: Vec<&Time> = self.times.iter().filter(|time| time.way == way && key.is_of(time)).collect();
        found.sort_by(|a, b| a.median_us.total_cmp(&b.median_us));
        let middle = found.get(found.len().checked_sub(1)? / 2)?;
        let median_us = median(found.iter().map(|time| time.median_us))?;
        let min_us = found.iter().map(|time| time.min_us).fold(f64::INFINITY, f64::min);
        let max_us = found.iter().map(|time| time.max_us).fold(0.0, f64::max);
        Some(Time { median_us, min_us, max_us, ..(*middle).clone() })
    }

    /// Times with the variants that `way` chose, once per case, in the order of measurement.
    pub fn picked(&self, way: &str) -> Vec<Time> {
        let mut keys: Vec<Key<'_>> = vec![];
        for time in self.times.iter().filter(|time| time.way == way && time.is_choice()) {
            let key = Key { case: &time.case, dtype: &time.dtype, size: &time.size };
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys.into_iter().filter_map(|key| self.find(way, key)).collect()
    }
}

impl Time {
    fn is_choice(&self) -> bool {
        self.picked && self.alternative.is_none()
    }
}

/// Identifies a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<'a> {
    /// Formula, without its dtype.
    pub case: &'a str,
    /// Dtype.
    pub dtype: &'a str,
    /// Size.
    pub size: &'a str,
}

impl Key<'_> {
    fn is_of(self, time: &Time) -> bool {
        time.is_choice() && (&*time.case, &*time.dtype, &*time.size) == (self.case, self.dtype, self.size)
    }
}

/// The mean of the middle two for an even number.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some((values[last / 2] + values[last.div_ceil(2)]) / 2.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn time(way: &str, [case, dtype, size]: [&str; 3], median_us: f64) -> Time {
        Time {
            way: way.to_owned(),
            case: case.to_owned(),
            dtype: dtype.to_owned(),
            size: size.to_owned(),
            variant: Some("tile".to_owned()),
            alternative: None,
            picked: true,
            median_us,
            min_us: median_us * 0.9,
            max_us: median_us * 1.1,
            gpu_us: None,
            batches: 9,
            launches_per_batch: 10,
            flops: 64e6,
            bytes: 1e6,
            tokens: 0.0,
            of_roof: Some(0.5),
            error_over_bound: Some(0.1),
        }
    }

    pub(crate) fn run(program: &str, adapter: &str) -> Run {
        let text = |text: &str| text.to_owned();
        Run {
            program: text(program),
            version: text("1"),
            adapter: text(adapter),
            driver: text("driver 1"),
            host: text("processor, 2 cores"),
            date: text("2026-11-21"),
            commit: text("abc"),
        }
    }

    const KEY: [&str; 3] = ["matmul", "f32", "8x8x8"];

    #[test]
    fn lines_survive_writing_and_reading() {
        let lines = [Line::Run(run("fuse", "GPU")), Line::Time(time(OURS, KEY, 2.0))];
        let text: String = lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
        let results = Results::parse(&text).unwrap();
        assert_eq!(results.times, [time(OURS, KEY, 2.0)]);
        assert_eq!(results.adapter(), "GPU");
    }

    #[test]
    fn damaged_and_lost_lines_are_named() {
        let error = Results::parse("{\"kind\":\"run\"}").unwrap_err().to_string();
        assert_eq!(error, "line 1 is no result");
        let lost = serde_json::to_string(&Line::Time(time(OURS, KEY, 2.0))).unwrap();
        assert!(Results::parse(&format!("\n{lost}")).unwrap_err().to_string().starts_with("line 2: a result before"));
    }

    #[test]
    fn repeated_cases_count_by_their_median() {
        let mut results = Results::default();
        for median_us in [9.0, 2.0, 4.0] {
            results.add(Line::Time(time(OURS, KEY, median_us)));
        }
        results.add(Line::Time(Time { picked: false, ..time(OURS, KEY, 1.0) }));
        results.add(Line::Time(time(EAGER, KEY, 7.0)));
        let key = Key { case: "matmul", dtype: "f32", size: "8x8x8" };
        let found = results.find(OURS, key).unwrap();
        assert_eq!((found.median_us, found.min_us, found.max_us), (4.0, 1.8, 9.0 * 1.1));
        results.add(Line::Time(time(OURS, KEY, 6.0)));
        assert_eq!(results.find(OURS, key).unwrap().median_us, 5.0);
        assert_eq!(results.picked(OURS).len(), 1);
        assert_eq!(results.find(OURS, Key { size: "9", ..key }), None);
    }

    use crate::line::EAGER;
}
