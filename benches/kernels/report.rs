//! Prints results at once, keeps them for the tables at the end, and writes JSON lines, so that interrupted runs lose
//! nothing.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use fuse_bench_results::{
    bars::Bars,
    figures,
    line::{self, LeftOut, Line, OURS, Roof, Run, Time},
    machine,
    results::{Key, Results},
    tables::Table,
};
use fuse_gpu::DeviceInfo;

use crate::measure::{Times, micros};

#[derive(Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) times: Times,
    /// A call that submits nothing, if timed alone.
    pub(crate) recording: Option<Duration>,
}

impl From<Times> for Spent {
    fn from(times: Times) -> Self {
        Self { times, recording: None }
    }
}

impl Spent {
    pub(crate) fn per(mut self, parts: u32) -> Self {
        self.times.per(parts);
        Self { recording: self.recording.map(|time| time / parts), ..self }
    }
}

pub(crate) struct Cost {
    pub(crate) case: &'static str,
    pub(crate) spent: Spent,
    /// The same in hand-written wgpu.
    pub(crate) by_hand: Option<Spent>,
}

impl Cost {
    fn line(&self) -> line::Cost {
        let Times { median, min, max, launches } = self.spent.times;
        let above = |own: Duration, hand: Duration| micros(own) - micros(hand);
        let by_hand_recording = self.by_hand.and_then(|hand| hand.recording);
        line::Cost {
            case: self.case.to_owned(),
            median_us: micros(median),
            min_us: micros(min),
            max_us: micros(max),
            above_by_hand_us: self.by_hand.map(|hand| above(median, hand.times.median)),
            recording_us: self.spent.recording.map(micros),
            recording_above_by_hand_us: self.spent.recording.zip(by_hand_recording).map(|(own, hand)| above(own, hand)),
            launches_per_batch: launches,
        }
    }
}

pub(crate) struct Report {
    lines: Option<File>,
    results: Results,
}

impl Report {
    /// Writes JSON lines to `path`, if given.
    pub(crate) fn new(info: &DeviceInfo, path: Option<&Path>) -> std::io::Result<Self> {
        let mut report = Self { lines: path.map(File::create).transpose()?, results: Results::default() };
        report.add(Line::Run(Run {
            program: OURS.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            adapter: info.name.clone(),
            driver: info.driver.clone(),
            host: machine::host(),
            date: machine::today(),
            commit: machine::commit(),
        }))?;
        Ok(report)
    }

    pub(crate) fn add(&mut self, line: Line) -> std::io::Result<()> {
        if let Some(text) = shown(&line) {
            println!("{text}");
        }
        if let Some(file) = &mut self.lines {
            writeln!(file, "{}", serde_json::to_string(&line)?)?;
        }
        self.results.add(line);
        Ok(())
    }

    pub(crate) fn add_cost(&mut self, cost: Cost) -> std::io::Result<()> {
        self.add(Line::Cost(cost.line()))
    }

    pub(crate) fn leave_out(&mut self, key: Key<'_>, reason: String) -> std::io::Result<()> {
        let Key { case, dtype, size } = key;
        let [way, case, dtype, size] = [OURS, case, dtype, size].map(str::to_owned);
        self.add(Line::LeftOut(LeftOut { way, case, dtype, size, reason }))
    }

    pub(crate) fn find(&self, key: Key<'_>) -> Option<Time> {
        self.results.find(OURS, key)
    }

    pub(crate) fn roof(&self) -> Option<Roof> {
        self.results.roof()
    }

    pub(crate) fn has_cost(&self, case: &str) -> bool {
        self.results.costs.iter().any(|cost| cost.case == case)
    }

    pub(crate) fn plot(&self, lines: &Path, bars: &Bars) -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
        let stem = lines.file_stem().unwrap_or_default().to_string_lossy();
        let mut files = vec![];
        for figure in figures::all(&self.results, bars)? {
            let file = lines.with_file_name(format!("{stem}-{}.svg", figure.name));
            std::fs::write(&file, figure.svg)?;
            files.push(file);
        }
        Ok(files)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.results.times.is_empty() && self.results.costs.is_empty() && self.results.pairs.is_empty()
    }

    pub(crate) fn tables(&self, bars: &Bars) -> String {
        Table::ALL.map(|table| table.show(&self.results, bars)).join("\n")
    }
}

/// For people; tables alone show runs.
fn shown(line: &Line) -> Option<String> {
    Some(match line {
        // Browsers are not measured here.
        Line::Run(_) | Line::Weight(_) | Line::Difference(_) | Line::Suite(_) => return None,
        Line::Roof(roof) => format!(
            "by hand: copy {:.0} GB/s, f32 {:.3} TFLOP/s, matrices of f16 {:.1} TFLOP/s",
            roof.copy_gb_per_s,
            roof.f32_tflops,
            roof.matrices_tflops.unwrap_or_default()
        ),
        Line::Time(time) => {
            let Time { size, median_us, min_us, max_us, variant, .. } = time;
            let variant = variant.as_deref().unwrap_or_default();
            format!("{:<28} {size:>16} {median_us:>11.2} µs [{min_us:.2} .. {max_us:.2}]  {variant}", time.name())
        }
        Line::Cost(cost) => {
            let line::Cost { case, median_us, min_us, max_us, .. } = cost;
            format!("{case:<42} {median_us:>11.2} µs [{min_us:.2} .. {max_us:.2}]")
        }
        Line::Pair(pair) => {
            let ([fused, ..], [unfused, ..]) = (pair.wall.fused_us, pair.wall.unfused_us);
            let (ratio, [low, high]) = (pair.wall.ratio, pair.wall.ratio_range);
            let ratios = format!("{fused:>11.2} µs, unfused {unfused:.2} µs: {ratio:.2} [{low:.2} .. {high:.2}]");
            format!("fused/{:<24} {:>16} {ratios}  {}", pair.name(), pair.size, pair.fused.variant)
        }
        Line::LeftOut(left) => format!("{} {} {}: left out, {}", left.case, left.dtype, left.size, left.reason),
    })
}
