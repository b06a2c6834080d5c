//! Times of kernels on this machine's adapter: `cargo xtask bench`.
//!
//! The binary needs no file of the repository, so it can run elsewhere. Every case is checked before it is measured.
//! `FUSE_ADAPTER` chooses the adapter, `FUSE_COMMIT` is the commit in results.

mod baseline;
mod block_formulas;
mod blocks;
mod by_hand;
mod by_hand_texts;
mod cases;
mod comparison;
mod data;
mod data_programs;
mod formulas;
mod gradients;
mod interleave;
mod launches;
mod lazy;
mod lower_bound;
mod measure;
mod plain_wgpu;
mod quantized;
mod ratios;
mod report;
mod run_modes;

use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};

use clap::Parser;
use fuse_bench_results::{
    bars::Bars,
    line::{COPY, Line, Roof, Time},
    results::Key,
};
use fuse_gpu::Device;

use crate::{
    cases::{Case, Sizes, power_of_two},
    lower_bound::Rates,
    measure::Effort,
    ratios::Extents,
    report::Report,
    run_modes::Detail,
};

/// So small that its time is launch cost.
const SMALL_COPY: usize = 1 << 10;

/// Measures `fuse!` kernels.
#[derive(Parser)]
struct Options {
    /// Small sizes and short measurements
    #[arg(long)]
    quick: bool,
    /// Products, chains, rows and attention over many sizes, and nothing else
    #[arg(long)]
    sweep: bool,
    /// Only the cases whose time has a bar or stands beside rivals
    #[arg(long, conflicts_with = "sweep")]
    bars: bool,
    /// Only the cases whose name and size, with a space between, contain this; several select the cases that match any
    #[arg(long)]
    filter: Vec<String>,
    #[command(flatten)]
    detail: Detail,
    /// Write JSON lines to this file, and plots beside it
    #[arg(long)]
    json: Option<PathBuf>,
    /// Print the name and size of each case, and end
    #[arg(long)]
    list: bool,
    /// Print the parts of the time to this process's first result, and end
    #[arg(long, hide = true)]
    first_result: bool,
    /// Print the times of this process's first compilations, and end
    #[arg(long, hide = true)]
    first_evaluation: bool,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    fn sizes(&self) -> Sizes {
        match (self.quick, self.sweep) {
            (false, false) => Sizes::full(),
            (true, false) => Sizes::quick(),
            (false, true) => Sizes::sweep(),
            (true, true) => Sizes::quick_sweep(),
        }
    }

    fn effort(&self) -> Effort {
        if self.quick { Effort::QUICK } else { Effort::FULL }
    }

    fn extents(&self) -> Extents {
        if self.quick { Extents::QUICK } else { Extents::FULL }
    }

    fn wants(&self, name: &str, size: &str) -> bool {
        let case = format!("{name} {size}");
        self.filter.is_empty() || self.filter.iter().any(|part| case.contains(part))
    }

    fn wants_all_kinds(&self) -> bool {
        !self.bars && !self.sweep
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.first_result {
        return Ok(launches::first_result()?);
    }
    if options.first_evaluation {
        return Ok(lazy::first_evaluation()?);
    }
    let bars = Bars::load().map_err(|error| format!("{error:#}"))?;
    names_are_known(&bars)?;
    let sizes = options.sizes();
    let mut cases = cases::all(&sizes);
    cases.retain(|case| {
        options.wants(&case.name(), &case.size) && (!options.bars || bars.cases().contains(&case.key()))
    });
    if options.list {
        cases.iter().for_each(|case| println!("{} {}", case.name(), case.size));
        return Ok(());
    }

    let device = Device::blocking()?;
    println!("{}\n", device.info());
    let mut report = Report::new(device.info(), options.json.as_deref())?;
    let mut pairs = if options.wants_all_kinds() { ratios::all(&options.extents()) } else { vec![] };
    pairs.retain(|pair| options.wants(&pair.name(), &pair.size));
    for &elements in sizes.pointwise {
        if options.wants(&format!("{COPY} f32"), &power_of_two(elements)) {
            copy(&device, elements, options.effort(), &mut report)?;
        }
    }
    if !cases.is_empty() || !pairs.is_empty() {
        roof(&device, options, &mut report)?;
    }
    if options.wants_all_kinds() {
        launches::run(&device, options.effort(), |name| options.wants(name, ""), &mut report)?;
        if options.filter.is_empty() {
            let unknown: Vec<&str> = bars.costs().into_iter().filter(|cost| !report.has_cost(cost)).collect();
            if !unknown.is_empty() {
                return Err(format!("benches/bars.toml has bars for costs that nothing measures: {unknown:?}").into());
            }
        }
    }
    let mut failures = vec![];
    for case in &cases {
        run_modes::run_case(&device, case, options.detail, options.effort(), &mut report, &mut failures)?;
    }
    run_pairs(&device, options, &pairs, &mut report, &mut failures)?;
    println!("\n{}", report.tables(&bars));
    if let Some(lines) = &options.json {
        for file in report.plot(lines, &bars)? {
            println!("wrote {}", file.display());
        }
    }
    match failures.len() {
        0 if report.is_empty() => Err(format!("no case matches {:?}", options.filter).into()),
        0 => Ok(()),
        count => Err(format!("{count} failures:\n{}", failures.join("\n")).into()),
    }
}

/// A bar without a measured case or pair would never be judged.
fn names_are_known(bars: &Bars) -> Result<(), String> {
    let cases = cases::all(&Sizes::full());
    let pairs = ratios::all(&Extents::FULL);
    let cases: Vec<Key<'_>> = cases.iter().map(Case::key).collect();
    let pairs: Vec<Key<'_>> = pairs.iter().map(ratios::Pair::key).collect();
    let unknown = bars.cases().into_iter().filter(|key| !cases.contains(key));
    let unknown: Vec<Key<'_>> = unknown.chain(bars.pairs().into_iter().filter(|key| !pairs.contains(key))).collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(format!("benches/bars.toml has bars for cases that nothing measures: {unknown:?}")),
    }
}

fn run_pairs(
    device: &Device,
    options: &Options,
    pairs: &[ratios::Pair],
    report: &mut Report,
    failures: &mut Vec<String>,
) -> Result<(), Box<dyn Error>> {
    let rates = report.roof().map(|roof| Rates {
        bandwidth: roof.copy_gb_per_s * 1e9,
        dispatch: Duration::from_secs_f64(roof.dispatch_us / 1e6),
    });
    for pair in pairs {
        let prepared = match run_modes::prepare(device, pair.f16, &pair.prepare) {
            Ok(prepared) => prepared,
            Err(reason) => {
                report.leave_out(pair.key(), reason)?;
                continue;
            }
        };
        match comparison::compare(device, pair, &prepared, rates, options.effort()) {
            Ok(pair) => report.add(Line::Pair(Box::new(pair)))?,
            Err(failure) => run_modes::note(failures, format!("{} {}: {failure}", pair.name(), pair.size)),
        }
        if options.detail.explain {
            prepared.iter().for_each(|prepared| run_modes::explain(device, prepared));
        }
        drop(prepared);
        device.trim();
    }
    Ok(())
}

/// Bandwidth at the largest copy that the adapter binds, time of the smallest, and arithmetic rates.
fn roof(device: &Device, options: &Options, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let effort = options.effort();
    let sizes = options.sizes().pointwise.iter().chain(options.extents().pointwise);
    let fits = |elements: &usize| *elements as u64 * 4 <= device.info().limits.binding_bytes;
    let large = sizes.copied().filter(fits).max().unwrap_or(SMALL_COPY);
    let (large, small) = (copy(device, large, effort, report)?, copy(device, SMALL_COPY, effort, report)?);
    let info = device.info();
    let f32_tflops = baseline::floats(&info.name, options.quick, effort)?;
    let matrices_tflops = match info.features.coop_matrix {
        0 => None,
        size => Some(baseline::matrices(&info.name, size, effort)?),
    };
    let (copy_gb_per_s, dispatch_us) = (large.gigabytes(), small.median_us);
    report.add(Line::Roof(Roof { copy_gb_per_s, dispatch_us, f32_tflops, matrices_tflops }))?;
    Ok(())
}

fn copy(device: &Device, elements: usize, effort: Effort, report: &mut Report) -> Result<Time, Box<dyn Error>> {
    let size = power_of_two(elements);
    if let Some(time) = report.find(Key { case: COPY, dtype: "f32", size: &size }) {
        return Ok(time);
    }
    let time = baseline::copy(&device.info().name, elements, size, effort)?;
    report.add(Line::Time(time.clone()))?;
    Ok(time)
}
