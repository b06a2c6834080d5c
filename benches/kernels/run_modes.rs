//! Runs a case as launched and, on request, with each alternative and variant.

use std::{collections::BTreeSet, fmt};

use fuse_bench_results::line::{Line, OURS, SPECIALIZED, Time};
use fuse_gpu::{Device, artifact::Function};

use crate::{
    cases::{Case, dtype},
    formulas::Prepared,
    measure::{self, Effort, measure, micros},
    report::Report,
};

/// The measurements and outputs of each case.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct Detail {
    /// Every plan of each function, not only the one that a launch picks
    #[arg(long)]
    alternatives: bool,
    /// Every plan, and every variant of each kernel
    #[arg(long)]
    variants: bool,
    /// Also with pipelines for exactly the sizes of each case (`Device::specialize`)
    #[arg(long)]
    specialize: bool,
    /// Print the time of each dispatch
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Measures a case as launched and in other requested ways. Failures are noted and passed over: time on a large GPU is
/// scarce.
pub(crate) fn run_case(
    device: &Device,
    case: &Case,
    detail: Detail,
    effort: Effort,
    report: &mut Report,
    failures: &mut Vec<String>,
) -> std::io::Result<()> {
    let prepared = match prepare(device, case.f16, &case.prepare) {
        Ok(prepared) => prepared,
        Err(reason) => return report.leave_out(case.key(), reason),
    };
    let others = if detail.variants || detail.alternatives { ways((case.function)()) } else { vec![] };
    let others = others.into_iter().filter(|way| detail.variants || way.variant.is_none());
    // Last: later launches of these sizes stay specialized until something else is forced.
    let specialized = detail.specialize.then_some(Way { specialized: true, ..Way::default() });
    for way in std::iter::once(Way::default()).chain(others).chain(specialized) {
        device.force_alternative(way.alternative);
        device.force_variant(way.variant);
        match run_way(device, case, &prepared, way, effort) {
            Ok(mut time) => {
                let roof = report.roof();
                time.of_roof = roof.and_then(|roof| roof.fraction(&time.dtype, time.flops, time.bytes, time.median_us));
                report.add(Line::Time(time))?;
            }
            // It does not fit these sizes or this adapter.
            Err(Failure::Launch(fuse_gpu::Error::Variant { .. } | fuse_gpu::Error::Alternative { .. })) => continue,
            Err(failure) => note(failures, format!("{} {} ({way}): {failure}", case.name(), case.size)),
        }
        if detail.explain {
            explain(device, &prepared);
        }
    }
    device.force_alternative(None);
    device.force_variant(None);
    drop(prepared);
    device.trim();
    Ok(())
}

pub(crate) fn note(failures: &mut Vec<String>, failure: String) {
    println!("{failure}");
    failures.push(failure);
}

/// Uploads operands, or returns why the adapter cannot.
pub(crate) fn prepare<P>(
    device: &Device,
    f16: bool,
    prepare: impl Fn(&Device) -> Result<P, fuse_gpu::Error>,
) -> Result<P, String> {
    if f16 && !device.info().features.f16 {
        return Err("the adapter has no f16".to_owned());
    }
    prepare(device).map_err(|error| error.to_string())
}

/// Needs timestamps.
pub(crate) fn explain(device: &Device, prepared: &Prepared) {
    if device.info().timestamps {
        match device.profile(&prepared.launch) {
            Ok((_, profile)) => println!("{profile}"),
            Err(error) => println!("no profile: {error}"),
        }
    }
}

/// Forced choice.
#[derive(Clone, Copy, Default)]
struct Way {
    alternative: Option<usize>,
    variant: Option<&'static str>,
    specialized: bool,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.alternative, self.variant) {
            (None, None) if self.specialized => write!(f, "specialized"),
            (None, None) => write!(f, "picked"),
            (alternative, variant) => {
                write!(f, "alternative {}, {}", alternative.unwrap_or(0), variant.unwrap_or("picked"))
            }
        }
    }
}

fn ways(function: &'static Function) -> Vec<Way> {
    let mut ways = vec![];
    for (index, alternative) in std::iter::once(function).chain(function.alternatives.iter()).enumerate() {
        let variants = alternative.kernels.iter().flat_map(|kernel| kernel.variants.iter());
        let names: BTreeSet<&str> = variants.map(|variant| &*variant.name).collect();
        let way = |variant| Way { alternative: Some(index), variant, specialized: false };
        ways.push(way(None));
        ways.extend(names.into_iter().map(|name| way(Some(name))));
    }
    ways
}

#[derive(Debug)]
pub(crate) enum Failure {
    Launch(fuse_gpu::Error),
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

/// Compares the result of a second launch: largest error, relative to the bound.
pub(crate) fn check(prepared: &Prepared) -> Result<f64, Failure> {
    (prepared.launch)()?;
    let error = (prepared.error)()?;
    if error.is_nan() || error > 1.0 { Err(Failure::WrongResult(error)) } else { Ok(error) }
}

fn run_way(device: &Device, case: &Case, prepared: &Prepared, way: Way, effort: Effort) -> Result<Time, Failure> {
    let error = if way.specialized { device.specialize(|| check(prepared)) } else { check(prepared) }?;
    let times = measure(effort, &prepared.launch, || device.synchronize_blocking())?;
    let profiled = measure::profile(device, effort, times.launches, &prepared.launch)?;
    Ok(Time {
        way: if way.specialized { SPECIALIZED } else { OURS }.to_owned(),
        case: case.formula.to_owned(),
        dtype: dtype(case.f16).to_owned(),
        size: case.size.clone(),
        variant: Some(profiled.as_ref().map_or_else(|| way.to_string(), |found| found.variants.clone())),
        alternative: way.alternative,
        picked: way.alternative.is_none(),
        median_us: micros(times.median),
        min_us: micros(times.min),
        max_us: micros(times.max),
        gpu_us: profiled.map(|profiled| micros(profiled.time)),
        batches: effort.batches,
        launches_per_batch: times.launches,
        flops: case.flops,
        bytes: case.bytes,
        tokens: case.tokens,
        of_roof: None,
        error_over_bound: Some(error),
    })
}
