//! Results as JSON lines, one per case, and as tables for people: kernels, what launches cost the host, and what fusion
//! gains, with plots.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::json;

use crate::{
    comparison::{self, Comparison},
    measure::{Times, micros},
};

/// One measured case.
#[derive(Clone)]
pub(crate) struct Row {
    /// The computation, for example `relu(matmul + b + r) f32`.
    pub(crate) case: String,
    /// The size, for example `1024x1024x1024`.
    pub(crate) size: String,
    /// The variants that ran.
    pub(crate) variant: String,
    /// The alternative of the function that was asked for.
    pub(crate) alternative: Option<usize>,
    /// Whether the launch chose them itself.
    pub(crate) picked: bool,
    /// The times.
    pub(crate) times: Times,
    /// The GPU's own time, where it has timestamps.
    pub(crate) gpu: Option<Duration>,
    /// Floating-point operations of one launch that count (those of the contraction), or 0.
    pub(crate) flops: f64,
    /// Bytes that one launch must read and write at least.
    pub(crate) bytes: f64,
    /// Tokens of text that one launch takes in, or 0.
    pub(crate) tokens: f64,
    /// Largest error at the elements that were checked, relative to the bound; at most 1.
    pub(crate) error: f64,
}

impl Row {
    fn variant_text(&self) -> String {
        match self.alternative {
            Some(index) => format!("{index}: {}", self.variant),
            None if self.picked => format!("{} (picked)", self.variant),
            None => self.variant.clone(),
        }
    }

    fn seconds(&self) -> f64 {
        self.times.median.as_secs_f64()
    }

    /// TFLOP/s.
    fn teraflops(&self) -> f64 {
        self.flops / self.seconds() / 1e12
    }

    /// GB/s, of 10⁹ bytes.
    fn gigabytes(&self) -> f64 {
        self.bytes / self.seconds() / 1e9
    }
}

/// Time of the host.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    /// All of it.
    pub(crate) times: Times,
    /// A call that submits nothing, where calls were timed by themselves.
    pub(crate) recording: Option<Duration>,
}

impl From<Times> for Spent {
    fn from(times: Times) -> Self {
        Self { times, recording: None }
    }
}

impl Spent {
    /// The same per one of `parts` equal parts.
    pub(crate) fn per(mut self, parts: u32) -> Self {
        self.times.per(parts);
        Self { recording: self.recording.map(|time| time / parts), ..self }
    }
}

/// What something costs the host.
pub(crate) struct Cost {
    /// What is done.
    pub(crate) case: &'static str,
    /// What it takes.
    pub(crate) spent: Spent,
    /// What the same takes when it is encoded by hand.
    pub(crate) by_hand: Option<Spent>,
}

impl Cost {
    /// Microseconds, with what they are above those by hand.
    fn total(&self) -> (f64, Option<f64>) {
        let total = micros(self.spent.times.median);
        (total, self.by_hand.map(|hand| total - micros(hand.times.median)))
    }

    /// The same of a call that submits nothing.
    fn recording(&self) -> Option<(f64, Option<f64>)> {
        let recording = micros(self.spent.recording?);
        Some((recording, self.by_hand.and_then(|hand| Some(recording - micros(hand.recording?)))))
    }
}

/// Where results go.
pub(crate) struct Report {
    lines: Option<File>,
    adapter: String,
    rows: Vec<Row>,
    costs: Vec<Cost>,
    comparisons: Vec<Comparison>,
}

impl Report {
    /// A report about an adapter, with JSON lines in `path` if one is given.
    pub(crate) fn new(adapter: String, path: Option<&Path>) -> std::io::Result<Self> {
        let lines = path.map(File::create).transpose()?;
        Ok(Self { lines, adapter, rows: vec![], costs: vec![], comparisons: vec![] })
    }

    /// Adds a case, and prints it at once: a long run that is cut short loses nothing.
    pub(crate) fn add(&mut self, row: Row) -> std::io::Result<()> {
        println!(
            "{:<24} {:>16} {:>11.2} µs [{:.2} .. {:.2}]  {}",
            row.case,
            row.size,
            micros(row.times.median),
            micros(row.times.min),
            micros(row.times.max),
            row.variant_text(),
        );
        if let Some(file) = &mut self.lines {
            writeln!(file, "{}", line(&self.adapter, &row))?;
        }
        self.rows.push(row);
        Ok(())
    }

    /// A case that was measured before.
    pub(crate) fn find(&self, case: &str, size: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.case == case && row.size == size)
    }

    /// Adds a cost of the host, and prints it at once.
    pub(crate) fn add_cost(&mut self, cost: Cost) -> std::io::Result<()> {
        let Times { median, min, max, .. } = cost.spent.times;
        println!("{:<42} {:>11.2} µs [{:.2} .. {:.2}]", cost.case, micros(median), micros(min), micros(max));
        if let Some(file) = &mut self.lines {
            writeln!(file, "{}", cost_line(&self.adapter, &cost))?;
        }
        self.costs.push(cost);
        Ok(())
    }

    /// Adds a comparison, and prints it at once.
    pub(crate) fn add_comparison(&mut self, comparison: Comparison) -> std::io::Result<()> {
        println!("{}", comparison.text());
        if let Some(file) = &mut self.lines {
            writeln!(file, "{}", comparison.line(&self.adapter))?;
        }
        self.comparisons.push(comparison);
        Ok(())
    }

    /// Writes the plots of comparisons beside the file of JSON lines, with the start of its name.
    pub(crate) fn plot(&self, lines: &Path) -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
        if self.comparisons.is_empty() {
            return Ok(vec![]);
        }
        let stem = lines.file_stem().unwrap_or_default().to_string_lossy();
        let mut files = vec![];
        for (name, svg) in comparison::plots(&self.comparisons)? {
            let file = lines.with_file_name(format!("{stem}-{name}.svg"));
            std::fs::write(&file, svg)?;
            files.push(file);
        }
        Ok(files)
    }

    /// Whether nothing was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.costs.is_empty() && self.comparisons.is_empty()
    }

    /// Every table that has rows, for documents.
    pub(crate) fn tables(&self) -> String {
        let tables = [
            (!self.rows.is_empty()).then(|| self.table()),
            (!self.costs.is_empty()).then(|| self.cost_table()),
            (!self.comparisons.is_empty()).then(|| comparison::table(&self.comparisons)),
        ];
        tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    fn cost_table(&self) -> String {
        let mut table =
            String::from("| time of the host | µs | above by hand | µs without submissions | above by hand |\n");
        table += "|---|---|---|---|---|\n";
        let text = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
        for cost in &self.costs {
            let ((total, above), recording) = (cost.total(), cost.recording());
            let (recorded, recorded_above) = (recording.map(|(time, _)| time), recording.and_then(|(_, above)| above));
            let columns = [Some(total), above, recorded, recorded_above].map(text);
            table += &format!("| {} | {} |\n", cost.case, columns.join(" | "));
        }
        table
    }

    fn table(&self) -> String {
        let mut table = String::from("| case | size | variant | µs | GPU µs | TFLOP/s | GB/s | tokens/s |\n");
        table += "|---|---|---|---|---|---|---|---|\n";
        for row in &self.rows {
            let or_dash = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
            table += &format!(
                "| {} | {} | {} | {:.2} | {} | {} | {:.1} | {} |\n",
                row.case,
                row.size,
                row.variant_text(),
                micros(row.times.median),
                or_dash(row.gpu.map(micros)),
                or_dash((row.flops > 0.0).then(|| row.teraflops())),
                row.gigabytes(),
                if row.tokens > 0.0 { format!("{:.0}", row.tokens / row.seconds()) } else { "–".to_owned() },
            );
        }
        table
    }
}

fn line(adapter: &str, row: &Row) -> serde_json::Value {
    json!({
        "adapter": adapter,
        "case": row.case,
        "size": row.size,
        "variant": row.variant,
        "alternative": row.alternative,
        "picked": row.picked,
        "median_us": micros(row.times.median),
        "min_us": micros(row.times.min),
        "max_us": micros(row.times.max),
        "gpu_us": row.gpu.map(micros),
        "launches_per_batch": row.times.launches,
        "tflops": row.teraflops(),
        "gb_per_s": row.gigabytes(),
        "tokens_per_s": row.tokens / row.seconds(),
        "error_over_bound": row.error,
    })
}

fn cost_line(adapter: &str, cost: &Cost) -> serde_json::Value {
    let (total, above) = cost.total();
    let recording = cost.recording();
    json!({
        "adapter": adapter,
        "case": cost.case,
        "median_us": total,
        "min_us": micros(cost.spent.times.min),
        "max_us": micros(cost.spent.times.max),
        "above_by_hand_us": above,
        "recording_us": recording.map(|(time, _)| time),
        "recording_above_by_hand_us": recording.and_then(|(_, above)| above),
        "launches_per_batch": cost.spent.times.launches,
    })
}
