//! What the forms of a kernel's text are worth on an adapter: loops unrolled or not, branches by `if` or by `switch`.
//!
//! The forms of the variant that a launch chooses run in turns (A B C A B C …), so that clocks, temperature and other programs
//! hit all alike.

use std::time::{Duration, Instant};

use fuse_gpu::{
    __private::launch_dynamic,
    AdapterKind, ControlFlow, Device, Error, Tuning,
    artifact::{CHAIN, UNROLL},
};

use crate::cases::Case;

/// Intended time of a batch, and the longest one.
const BATCH: Duration = Duration::from_millis(5);
const MAX_LAUNCHES: u32 = 1000;

/// Rounds, of which the median counts, or on adapters that share their processor with other programs the fastest.
const ROUNDS: usize = 15;

/// Work before the first round: GPUs lower their clocks when they idle.
const WARM_UP: Duration = Duration::from_millis(200);

/// The forms by name, with what the texts have that are written differently in them; the first is a text as it is written.
fn all() -> [(&'static str, &'static str, Tuning); 5] {
    let written = || Tuning::default().unroll(1);
    [
        ("as written", "", written()),
        ("unroll 2", UNROLL, written().unroll(2)),
        ("unroll 4", UNROLL, written().unroll(4)),
        ("if", "switch product {", written().control_flow(ControlFlow::If)),
        ("switch", CHAIN, written().control_flow(ControlFlow::Switch)),
    ]
}

/// The time of each form that the text of the case's variant `chosen` has, by name; none if it has but one.
pub(crate) fn compare(device: &Device, case: &Case, chosen: &str) -> Result<Vec<(&'static str, Duration)>, Error> {
    let variants = case.function().kernels.iter().flat_map(|kernel| kernel.variants.iter());
    let passes = variants.filter(|variant| variant.name == chosen).flat_map(|variant| variant.passes.iter());
    let texts: Vec<&str> = passes.map(|pass| &*pass.wgsl).collect();
    let mut forms: Vec<(&str, Tuning, Vec<Duration>)> = vec![];
    for (name, mark, tuning) in all() {
        if texts.iter().any(|text| text.contains(mark)) {
            forms.push((name, tuning, vec![]));
        }
    }
    if forms.len() < 2 {
        return Ok(vec![]);
    }
    let inputs = case.inputs(device)?;
    let arguments = inputs.arguments();
    let launch = || launch_dynamic(case.function(), &arguments).map(drop);
    forms.iter().try_for_each(|(_, tuning, _)| device.with_tuning(tuning, launch))?;
    let batch = |tuning: &Tuning, launches: u32| {
        let work = || (0..launches).try_for_each(|_| launch());
        device.with_tuning(tuning, || timed(device, work)).map(|time| time / launches)
    };
    let (start, mut launches) = (Instant::now(), 1);
    while start.elapsed() < WARM_UP {
        let one = batch(&forms[0].1, launches)?.as_secs_f64().max(1e-9);
        launches = ((BATCH.as_secs_f64() / one) as u32).clamp(1, MAX_LAUNCHES);
    }
    for _ in 0..ROUNDS {
        for (_, tuning, times) in &mut forms {
            times.push(batch(tuning, launches)?);
        }
    }
    let counts = if device.info().kind == AdapterKind::Software { 0 } else { ROUNDS / 2 };
    let time = |(name, _, mut times): (&'static str, Tuning, Vec<Duration>)| {
        times.sort();
        (name, times[counts])
    };
    Ok(forms.into_iter().map(time).collect())
}

/// How long the GPU works, by its own clock where it has one.
fn timed(device: &Device, work: impl FnOnce() -> Result<(), Error>) -> Result<Duration, Error> {
    if device.info().timestamps {
        let (outcome, time) = device.gpu_time(work)?;
        return outcome.map(|()| time);
    }
    let start = Instant::now();
    work()?;
    device.synchronize()?;
    Ok(start.elapsed())
}
