//! Choice of a function's alternative: the fastest whose assumptions hold and whose kernels have legal variants.
//!
//! An earlier alternative wins if it is little slower. Times are measured if tables have all kernels in which
//! alternatives differ, else the model's. Not here: choice of variants (`select_variant`).

use fuse_artifact::{DomainKind, Function};

use crate::{
    context::{error::Error, info::DeviceInfo, shape::Shape},
    plan::{
        candidates::{best, candidates, no_variant},
        check::{assumption_that_fails, bind},
        considered::{Considered, Selected, key},
        cost::{Machine, dependency},
        domain::Domain,
        key::Key,
        select_variant::{costs_are_times, measured_time},
    },
    tune::tuning::Applied,
};

/// Part of an earlier alternative's time that a later one must not exceed: more kernels cost memory, and estimates are
/// inexact.
const WORTH_MORE_KERNELS: f64 = 0.98;

/// Selects the alternative that runs.
///
/// # Errors
/// Those of the last alternative, if none can run.
pub(crate) fn select<'f>(function: &'f Function, shapes: &[Shape], tuning: &Applied) -> Result<Selected<'f>, Error> {
    let mut chosen: Result<Selected<'f>, Error> =
        Err(Error::Internal { message: format!("kernel `{}` has no alternatives", function.name) });
    for verdict in consider_all(function, shapes, &tuning.info)? {
        match (&chosen, verdict) {
            (Ok(chosen), Ok(other)) if !other.is_worth_more_than(chosen, tuning) => {}
            (Ok(_), Err(_)) => {}
            (_, verdict) => chosen = verdict,
        }
    }
    chosen.map_err(|error| match error {
        // By contract, the last alternative fits every shape.
        Error::Variant { .. } => Error::Internal { message: error.to_string() },
        error => error,
    })
}

impl Selected<'_> {
    fn is_worth_more_than(&self, earlier: &Self, tuning: &Applied) -> bool {
        let mut times = [self.cost, earlier.cost];
        if costs_are_times(tuning.info.kind) {
            let (mine, theirs) = (self.measured(tuning), earlier.measured(tuning));
            // The model's errors cancel for common kernels.
            if mine.modeled == theirs.modeled {
                times = [mine.time, theirs.time];
            }
        }
        times[0].total_cmp(&(times[1] * WORTH_MORE_KERNELS)).is_lt()
    }

    fn measured(&self, tuning: &Applied) -> Measured {
        let mut measured = Measured::default();
        let mut wait = 0.0;
        for considered in self.kernels.iter().filter(|considered| considered.domain.count() > 0) {
            let Considered { domain, candidates, .. } = considered;
            let modeled = || best(domain.kind, candidates).map_or(0.0, |candidate| candidate.cost) + wait;
            measured.time += match (domain.kind, measured_time(considered, tuning)) {
                // Memory bandwidth explains pointwise kernels.
                (DomainKind::Pointwise, _) => modeled(),
                (_, Some(time)) => time,
                (_, None) => {
                    measured.modeled.push(key(considered));
                    modeled()
                }
            };
            wait = dependency(&Machine::of(&tuning.info));
        }
        measured
    }
}

/// Time in the unit of costs.
#[derive(Default)]
struct Measured {
    /// Each kernel waits for the one before, as in measurements.
    time: f64,
    /// Kernels without measurement, except pointwise ones.
    modeled: Vec<Key>,
}

/// Selects alternative `index`, fastest or not.
///
/// # Errors
/// Those of the alternative, if it cannot run; [`Error::Alternative`] if it does not exist.
pub(crate) fn select_index<'f>(
    function: &'f Function,
    index: usize,
    shapes: &[Shape],
    info: &DeviceInfo,
) -> Result<Selected<'f>, Error> {
    let reason = format!("there are {}", alternatives(function).count());
    let missing = || Error::Alternative { kernel: function.name.to_string(), alternative: index, reason };
    consider(index, alternatives(function).nth(index).ok_or_else(missing)?, shapes, info)
}

/// All alternatives in order, or why they cannot run.
///
/// # Errors
/// Defects of artifacts, which others must not hide.
pub(crate) fn consider_all<'f>(
    function: &'f Function,
    shapes: &[Shape],
    info: &DeviceInfo,
) -> Result<Vec<Result<Selected<'f>, Error>>, Error> {
    let consider = |(index, alternative)| match consider(index, alternative, shapes, info) {
        Err(defect @ Error::Internal { .. }) => Err(defect),
        verdict => Ok(verdict),
    };
    alternatives(function).enumerate().map(consider).collect()
}

/// The function, then its alternatives.
pub(crate) fn alternatives(function: &Function) -> impl Iterator<Item = &Function> {
    std::iter::once(function).chain(function.alternatives.iter())
}

fn consider<'f>(
    index: usize,
    function: &'f Function,
    shapes: &[Shape],
    info: &DeviceInfo,
) -> Result<Selected<'f>, Error> {
    // Assumptions come first: a function's checks require them.
    if let Some(reason) = assumption_that_fails(function, shapes)? {
        return Err(Error::Alternative { kernel: function.name.to_string(), alternative: index, reason });
    }
    let bound = bind(function, shapes, info.limits.binding_bytes)?;
    let mut selected = Selected { index, function, bound, kernels: Vec::new(), cost: 0.0 };
    let machine = Machine::of(info);
    let mut follows = false;
    for kernel in function.kernels.iter() {
        let domain = Domain::new(function, kernel, shapes, &selected.bound)?;
        // An empty kernel needs no variant.
        let candidates = if domain.count() > 0 { candidates(kernel, &domain, info) } else { Vec::new() };
        if domain.count() > 0 {
            let candidate = best(domain.kind, &candidates).ok_or_else(|| no_variant(kernel, &candidates, info))?;
            selected.cost += candidate.cost + if follows { dependency(&machine) } else { 0.0 };
            follows = true;
        }
        selected.kernels.push(Considered { kernel, domain, candidates });
    }
    Ok(selected)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        context::info::AdapterKind,
        plan::{
            check::Bound,
            select_variant::tests::{SIZES, applied, of_sizes, product, timed},
        },
    };

    pub(crate) fn empty() -> Function {
        Function {
            name: "f".into(),
            params: vec![].into(),
            results: vec![].into(),
            updates: vec![].into(),
            symbols: vec![].into(),
            checks: vec![].into(),
            temporaries: vec![].into(),
            kernels: vec![].into(),
            plan: fuse_artifact::Plan::default(),
            assumes: vec![].into(),
            alternatives: vec![].into(),
            webnn: None,
        }
    }

    fn later_runs(times: &[(u32, f64)], [earlier, later]: [&[u32]; 2], model: f64, adapter: AdapterKind) -> bool {
        let function = empty();
        let kernels = [earlier, later].map(|plan| plan.iter().map(|lhs| product(*lhs)).collect::<Vec<_>>());
        let plan = |which: usize, cost| Selected {
            index: which,
            function: &function,
            bound: Bound { symbols: vec![], results: vec![], temporaries: vec![] },
            kernels: kernels[which].iter().map(|kernel| of_sizes(kernel, adapter)).collect(),
            cost,
        };
        let entries = times.iter().map(|(lhs, time)| timed(*lhs, SIZES, *time, &[("tile 32", 1.0)]));
        plan(1, model).is_worth_more_than(&plan(0, 1.0), &applied(&entries.collect::<Vec<_>>(), adapter))
    }

    #[test]
    fn measured_times_come_before_the_model() {
        let plans: [&[u32]; 2] = [&[20], &[0, 0]];
        let runs =
            |computed, plain, model| later_runs(&[(20, computed), (0, plain)], plans, model, AdapterKind::Discrete);
        assert!(runs(20.0, 5.0, 2.0) && !runs(10.0, 5.0, 0.5));
        assert!(!runs(11.0, 5.0, 0.5) && runs(13.0, 5.0, 2.0));
    }

    #[test]
    fn what_two_plans_share_needs_no_measurement() {
        let plans: [&[u32]; 2] = [&[20, 40], &[0, 0, 40]];
        let runs = |computed| later_runs(&[(20, computed), (0, 5.0)], plans, 1.0, AdapterKind::Discrete);
        assert!(runs(20.0) && !runs(10.0));
    }

    #[test]
    fn the_model_compares_what_was_not_measured() {
        let plans: [&[u32]; 2] = [&[20], &[0, 0]];
        for model in [0.9, 0.99, 1.1] {
            assert_eq!(later_runs(&[(20, 20.0)], plans, model, AdapterKind::Discrete), model < 0.98);
            let all = [(20, 20.0), (0, 5.0)];
            assert_eq!(later_runs(&all, plans, model, AdapterKind::Software), model < 0.98, "another machine's model");
        }
    }
}
