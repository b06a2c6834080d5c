//! Measures specializations of a shader: loops unrolled or not, `if` or `switch`.
//!
//! They run interleaved (A B C A B C …), so that clocks, temperature and other programs affect all alike.

use std::time::{Duration, Instant};

use fuse_gpu::{
    __private::launch_dynamic,
    AdapterKind, ControlFlow, Device, Error, Tuning,
    artifact::{
        Schedule, Variant,
        constants::{self, SWITCH},
    },
};

use crate::cases::Case;

const BATCH: Duration = Duration::from_millis(5);
const MAX_LAUNCHES: u32 = 1000;

/// The median counts; the fastest where other programs share the processor.
const ROUNDS: usize = 15;

/// GPUs lower their clocks when idle.
const WARM_UP: Duration = Duration::from_millis(200);

/// With the shader construct that each changes; the first is the unmodified shader.
fn all() -> [(&'static str, &'static str, Tuning); 5] {
    let written = || Tuning::default().unroll(1);
    [
        ("as written", "", written()),
        ("unroll 2", constants::ROUNDS, written().unroll(2)),
        ("unroll 4", constants::ROUNDS, written().unroll(4)),
        ("if", SWITCH, written().control_flow(ControlFlow::If)),
        ("switch", SWITCH, written().control_flow(ControlFlow::Switch)),
    ]
}

pub(crate) struct Compared {
    pub(crate) variant: &'static str,
    /// Named times; empty if there is only one.
    pub(crate) times: Vec<(&'static str, Duration)>,
}

/// Measures the variant that a launch chooses; for products with a shared operand, one with separate workgroups per
/// product.
pub(crate) fn compare(device: &Device, case: &Case) -> Result<Compared, Error> {
    let known = case.known(device, &Tuning::default())?;
    let variants = || case.function().kernels.iter().flat_map(|kernel| kernel.variants.iter());
    let named = |name: &String| variants().find(|variant| variant.name == *name);
    let is_grouped = |variant: &&Variant| matches!(variant.schedule, Schedule::Tile(tile) if tile.is_grouped());
    let grouped = known.schedules.iter().filter_map(named).find(is_grouped);
    let Some(variant) = grouped.or_else(|| named(&known.chosen)) else {
        return Ok(Compared { variant: "", times: vec![] });
    };
    device.force_alternative(Some(0));
    device.force_variant(Some(&variant.name));
    let times = race(device, case, variant);
    device.force_variant(None);
    device.force_alternative(None);
    Ok(Compared { variant: &variant.name, times: times? })
}

/// The variant must be the one that launches choose.
fn race(device: &Device, case: &Case, variant: &Variant) -> Result<Vec<(&'static str, Duration)>, Error> {
    let has = |mark: &str| variant.passes.iter().any(|pass| pass.wgsl.contains(mark));
    let specializations = all().into_iter().filter(|(_, mark, _)| has(mark));
    let mut specializations: Vec<_> = specializations.map(|(name, _, tuning)| (name, tuning, vec![])).collect();
    if specializations.len() < 2 {
        return Ok(vec![]);
    }
    let inputs = case.inputs(device)?;
    let arguments = inputs.arguments();
    let launch = || launch_dynamic(case.function(), &arguments).map(drop);
    specializations.iter().try_for_each(|(_, tuning, _)| device.with_tuning(tuning, launch))?;
    let batch = |tuning: &Tuning, launches: u32| {
        let work = || (0..launches).try_for_each(|_| launch());
        device.with_tuning(tuning, || timed(device, work)).map(|time| time / launches)
    };
    let (start, mut launches) = (Instant::now(), 1);
    while start.elapsed() < WARM_UP {
        let one = batch(&specializations[0].1, launches)?.as_secs_f64().max(1e-9);
        launches = ((BATCH.as_secs_f64() / one) as u32).clamp(1, MAX_LAUNCHES);
    }
    for _ in 0..ROUNDS {
        for (_, tuning, times) in &mut specializations {
            times.push(batch(tuning, launches)?);
        }
    }
    let counts = if device.info().kind == AdapterKind::Software { 0 } else { ROUNDS / 2 };
    let time = |(name, _, mut times): (&'static str, Tuning, Vec<Duration>)| {
        times.sort();
        (name, times[counts])
    };
    Ok(specializations.into_iter().map(time).collect())
}

/// By GPU timestamps, if it has them.
pub(crate) fn timed(device: &Device, work: impl FnOnce() -> Result<(), Error>) -> Result<Duration, Error> {
    if device.info().timestamps {
        let (outcome, time) = device.gpu_time(work)?;
        return outcome.map(|()| time);
    }
    let start = Instant::now();
    work()?;
    device.synchronize_blocking()?;
    Ok(start.elapsed())
}
