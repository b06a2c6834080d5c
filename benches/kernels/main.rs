//! Times of kernels on this machine's adapter: `cargo xtask bench`.
//!
//! The binary needs no file of the repository, so it can be built here and measured elsewhere. Every case
//! is checked before it is measured: a wrong kernel has no speed. Environment: `FUSE_ADAPTER` chooses the
//! adapter.

mod baseline;
mod blocks;
mod by_hand;
mod cases;
mod comparison;
mod data;
#[path = "../../examples/minilm/encoder.rs"]
mod encoder;
mod floor;
mod formulas;
mod interleave;
mod launches;
mod measure;
mod plain_wgpu;
mod plot;
mod ratios;
mod report;

use std::{collections::BTreeSet, error::Error, fmt, path::PathBuf, process::ExitCode};

use clap::Parser;
use fuse_gpu::{Device, artifact::Function};

use crate::{
    cases::{Case, Sizes},
    floor::Rates,
    formulas::Prepared,
    measure::{Effort, measure},
    ratios::Extents,
    report::{Report, Row},
};

/// Elements of a copy that is all launch.
const SMALL_COPY: usize = 1 << 10;

/// Measures `fuse!` kernels.
#[derive(Parser)]
struct Options {
    /// Small sizes and short measurements
    #[arg(long)]
    quick: bool,
    /// Only the cases whose name or size contains this; several select the cases that match any
    #[arg(long)]
    filter: Vec<String>,
    /// Every plan of each function, not only the one that a launch picks
    #[arg(long)]
    alternatives: bool,
    /// Every plan, and every variant of each kernel
    #[arg(long)]
    variants: bool,
    /// Print the time of each dispatch
    #[arg(long)]
    explain: bool,
    /// Write one JSON object per case to this file, and plots of fused against unfused beside it
    #[arg(long)]
    json: Option<PathBuf>,
    /// Print the parts of the time to this process's first result, and end
    #[arg(long, hide = true)]
    first_result: bool,
    /// Passed by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
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
    let device = Device::blocking()?;
    println!("{}\n", device.info());
    let effort = if options.quick { Effort::QUICK } else { Effort::FULL };
    let sizes = if options.quick { Sizes::quick() } else { Sizes::full() };
    let wanted = |name: &str, size: &str| {
        options.filter.is_empty() || options.filter.iter().any(|part| name.contains(part) || size.contains(part))
    };

    let mut report = Report::new(device.info().name.clone(), options.json.as_deref())?;
    for &elements in sizes.pointwise {
        let size = cases::power_of_two(elements);
        if wanted(baseline::NAME, &size) && elements as u64 * 4 <= device.info().limits.binding_bytes {
            report.add(baseline::copy(&device.info().name, elements, size, effort)?)?;
        }
    }
    launches::run(&device, effort, |name| wanted(name, ""), &mut report)?;
    let mut failures = vec![];
    for case in cases::all(&sizes) {
        if wanted(&case.name(), &case.size) {
            run_case(&device, &case, options, effort, &mut report, &mut failures)?;
        }
    }
    run_pairs(&device, options, effort, wanted, &mut report, &mut failures)?;
    println!("\n{}", report.tables());
    if let Some(lines) = &options.json {
        for file in report.plot(lines)? {
            println!("wrote {}", file.display());
        }
    }
    match failures.len() {
        0 if report.is_empty() => Err(format!("no case matches {:?}", options.filter).into()),
        0 => Ok(()),
        count => Err(format!("{count} failures:\n{}", failures.join("\n")).into()),
    }
}

/// Measures a case as a launch runs it and, if asked for, every other way to run it. A failure is noted and
/// the rest goes on, because time on a large GPU is scarce.
fn run_case(
    device: &Device,
    case: &Case,
    options: &Options,
    effort: Effort,
    report: &mut Report,
    failures: &mut Vec<String>,
) -> std::io::Result<()> {
    let Some(prepared) = prepare(device, case.f16, &case.prepare, &format!("{} {}", case.name(), case.size)) else {
        return Ok(());
    };
    let others = if options.variants || options.alternatives { ways((case.function)()) } else { vec![] };
    let others = others.into_iter().filter(|way| options.variants || way.variant.is_none());
    for way in std::iter::once(Way::default()).chain(others) {
        device.force_alternative(way.alternative);
        device.force_variant(way.variant);
        match run_way(device, case, &prepared, way, effort) {
            Ok(row) => report.add(row)?,
            // It does not fit these sizes or this adapter.
            Err(Failure::Launch(fuse_gpu::Error::Variant { .. } | fuse_gpu::Error::Alternative { .. })) => continue,
            Err(failure) => {
                let failure = format!("{} {} ({way}): {failure}", case.name(), case.size);
                println!("{failure}");
                failures.push(failure);
            }
        }
        if options.explain && way.variant.is_none() {
            explain(device, &prepared);
        }
    }
    device.force_alternative(None);
    device.force_variant(None);
    drop(prepared);
    device.trim();
    Ok(())
}

/// Uploads operands; what the adapter cannot do or hold is left out, with the reason.
fn prepare<P>(
    device: &Device,
    f16: bool,
    prepare: impl Fn(&Device) -> Result<P, fuse_gpu::Error>,
    name: &str,
) -> Option<P> {
    if f16 && !device.info().features.f16 {
        println!("{name}: left out, the adapter has no f16");
        return None;
    }
    prepare(device).map_err(|error| println!("{name}: left out, {error}")).ok()
}

/// Prints the time of each dispatch of a launch, where the adapter has timestamps.
fn explain(device: &Device, prepared: &Prepared) {
    if device.info().timestamps {
        match device.profile(&prepared.launch) {
            Ok((_, profile)) => println!("{profile}"),
            Err(error) => println!("no profile: {error}"),
        }
    }
}

/// Measures fused against unfused functions.
fn run_pairs(
    device: &Device,
    options: &Options,
    effort: Effort,
    wanted: impl Fn(&str, &str) -> bool,
    report: &mut Report,
    failures: &mut Vec<String>,
) -> Result<(), Box<dyn Error>> {
    let extents = if options.quick { Extents::QUICK } else { Extents::FULL };
    let mut pairs = ratios::all(&extents);
    pairs.retain(|pair| wanted(&pair.name, &pair.size));
    if pairs.is_empty() {
        return Ok(());
    }
    let rates = rates(device, &extents, effort, report)?;
    for pair in pairs {
        let name = format!("{} {}", pair.name, pair.size);
        let Some(prepared) = prepare(device, pair.f16, &pair.prepare, &name) else { continue };
        match comparison::compare(device, &pair, &prepared, rates, effort) {
            Ok(comparison) => report.add_comparison(comparison)?,
            Err(failure) => {
                let failure = format!("{name}: {failure}");
                println!("{failure}");
                failures.push(failure);
            }
        }
        if options.explain {
            prepared.iter().for_each(|prepared| explain(device, prepared));
        }
        drop(prepared);
        device.trim();
    }
    Ok(())
}

/// What a copy by hand reaches: its bandwidth at the largest size that the adapter binds, and its time where it has next
/// to nothing to copy.
fn rates(
    device: &Device,
    extents: &Extents,
    effort: Effort,
    report: &mut Report,
) -> Result<Option<Rates>, Box<dyn Error>> {
    let fits = |elements: &usize| *elements as u64 * 4 <= device.info().limits.binding_bytes;
    let Some(large) = extents.pointwise.iter().copied().filter(fits).max() else { return Ok(None) };
    let mut copy = |elements: usize| -> Result<Row, Box<dyn Error>> {
        let size = cases::power_of_two(elements);
        if let Some(row) = report.find(baseline::NAME, &size) {
            return Ok(row.clone());
        }
        let row = baseline::copy(&device.info().name, elements, size, effort)?;
        report.add(row.clone())?;
        Ok(row)
    };
    let (large, small) = (copy(large)?, copy(SMALL_COPY)?);
    let bandwidth = large.bytes / large.times.median.as_secs_f64();
    Ok(Some(Rates { bandwidth, dispatch: small.times.median }))
}

/// How to run a function: what a launch does not choose itself.
#[derive(Clone, Copy, Default)]
struct Way {
    alternative: Option<usize>,
    variant: Option<&'static str>,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.alternative, self.variant) {
            (None, None) => write!(f, "picked"),
            (alternative, variant) => {
                write!(f, "alternative {}, {}", alternative.unwrap_or(0), variant.unwrap_or("picked"))
            }
        }
    }
}

/// Every alternative of a function, with variants as chosen and with each that some kernel of it has.
fn ways(function: &'static Function) -> Vec<Way> {
    let mut ways = vec![];
    for (index, alternative) in std::iter::once(function).chain(function.alternatives.iter()).enumerate() {
        let variants = alternative.kernels.iter().flat_map(|kernel| kernel.variants.iter());
        let names: BTreeSet<&str> = variants.map(|variant| &*variant.name).collect();
        let way = |variant| Way { alternative: Some(index), variant };
        ways.push(way(None));
        ways.extend(names.into_iter().map(|name| way(Some(name))));
    }
    ways
}

/// Why a case has no time.
#[derive(Debug)]
enum Failure {
    Launch(fuse_gpu::Error),
    /// The largest error, relative to its bound.
    WrongResult(f64),
}

impl From<fuse_gpu::Error> for Failure {
    fn from(error: fuse_gpu::Error) -> Self {
        Self::Launch(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(error) => error.fmt(f),
            Self::WrongResult(error) => write!(f, "wrong result, {error:.1} × the bound"),
        }
    }
}

/// Launches twice and compares the second result: the largest error, relative to its bound.
fn check(prepared: &Prepared) -> Result<f64, Failure> {
    (prepared.launch)()?;
    let error = (prepared.error)()?;
    if error.is_nan() || error > 1.0 { Err(Failure::WrongResult(error)) } else { Ok(error) }
}

fn run_way(device: &Device, case: &Case, prepared: &Prepared, way: Way, effort: Effort) -> Result<Row, Failure> {
    let error = check(prepared)?;
    let times = measure(effort, &prepared.launch, || device.synchronize())?;
    let profiled = measure::profile(device, effort, times.launches, &prepared.launch)?;
    Ok(Row {
        case: case.name(),
        size: case.size.clone(),
        variant: profiled.as_ref().map_or_else(|| way.to_string(), |found| found.variants.clone()),
        alternative: way.alternative,
        picked: way.alternative.is_none(),
        times,
        gpu: profiled.map(|profiled| profiled.time),
        flops: case.flops,
        bytes: case.bytes,
        tokens: case.tokens,
        error,
    })
}
