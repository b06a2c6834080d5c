//! Results as JSON lines, one per case, and as tables for people: kernels, and what launches cost the host.

use std::{fs::File, io::Write, path::Path, time::Duration};

use serde_json::json;

use crate::measure::Times;

/// One measured case.
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

/// What something costs the host.
pub(crate) struct Cost {
    /// What is done.
    pub(crate) case: &'static str,
    /// The times.
    pub(crate) times: Times,
    /// Its median, and that of the same encoded by hand.
    pub(crate) above: Option<(Duration, Duration)>,
}

impl Cost {
    /// Microseconds above the same encoded by hand.
    fn above(&self) -> Option<f64> {
        self.above.map(|(ours, by_hand)| micros(ours) - micros(by_hand))
    }
}

/// Where results go.
pub(crate) struct Report {
    lines: Option<File>,
    adapter: String,
    rows: Vec<Row>,
    costs: Vec<Cost>,
}

impl Report {
    /// A report about an adapter, with JSON lines in `path` if one is given.
    pub(crate) fn new(adapter: String, path: Option<&Path>) -> std::io::Result<Self> {
        Ok(Self { lines: path.map(File::create).transpose()?, adapter, rows: vec![], costs: vec![] })
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

    /// Adds a cost of the host, and prints it at once.
    pub(crate) fn add_cost(&mut self, cost: Cost) -> std::io::Result<()> {
        let Times { median, min, max, .. } = cost.times;
        println!("{:<42} {:>11.2} µs [{:.2} .. {:.2}]", cost.case, micros(median), micros(min), micros(max));
        if let Some(file) = &mut self.lines {
            writeln!(file, "{}", cost_line(&self.adapter, &cost))?;
        }
        self.costs.push(cost);
        Ok(())
    }

    /// Whether nothing was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.costs.is_empty()
    }

    /// Every table that has rows, for documents.
    pub(crate) fn tables(&self) -> String {
        let tables =
            [(!self.rows.is_empty()).then(|| self.table()), (!self.costs.is_empty()).then(|| self.cost_table())];
        tables.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    fn cost_table(&self) -> String {
        let mut table = String::from("| time of the host | µs | µs above by hand |\n|---|---|---|\n");
        for cost in &self.costs {
            let above = cost.above().map_or("–".to_owned(), |above| format!("{above:.2}"));
            table += &format!("| {} | {:.2} | {above} |\n", cost.case, micros(cost.times.median));
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

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
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
    json!({
        "adapter": adapter,
        "case": cost.case,
        "median_us": micros(cost.times.median),
        "min_us": micros(cost.times.min),
        "max_us": micros(cost.times.max),
        "above_by_hand_us": cost.above(),
        "launches_per_batch": cost.times.launches,
    })
}
