//! Choice of a kernel's variant, with its reason.
//!
//! Precedence: the program's overrides, tables, the cost model, and priors where the model sees no difference. Not
//! here: times of variants (`cost`, `tune::table`).

use std::fmt;

use fuse_artifact::DomainKind;

use crate::{
    context::info::AdapterKind,
    plan::{
        candidates::{Candidate, best, estimated},
        considered::{Considered, key},
        cost::{Machine, recording},
        key::Key,
        require::fits,
    },
    tune::{
        table::{Estimate, Status, Table},
        tuning::Applied,
    },
};

/// Reason for the choice of a variant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// `Device::force_variant`, a test or the tuner.
    Forced,
    /// It is the only legal variant.
    Only,
    /// The program's override: closest in workgroup or tile size ([`Tuning`](crate::Tuning)).
    Override,
    /// A tuning table.
    Table {
        /// The table's name.
        name: String,
        /// Origin of its figures.
        status: Status,
        /// Distance of its nearest entry in powers of two, with less weight on the depth of products.
        distance: f64,
    },
    /// A prior of the environment or vendor, among variants that the cost model rates equal.
    Prior {
        /// The name of the table with the prior.
        name: String,
    },
    /// The cost model; for pointwise kernels, the family's order.
    Estimate,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forced => f.write_str("forced"),
            Self::Only => f.write_str("the only one"),
            Self::Override => f.write_str("closest to the program's override"),
            Self::Table { name, status, distance } => {
                write!(f, "table `{name}`, {}", status.name())?;
                if *distance > 0.0 { write!(f, " at 2^{distance:.1}") } else { f.write_str(" at this size") }
            }
            Self::Prior { name } => write!(f, "estimate, among equals the prior of table `{name}`"),
            Self::Estimate => f.write_str("estimate"),
        }
    }
}

/// Estimates within this factor count as equal where there is a prior: the model was fitted to one native adapter.
const EQUALLY_FAST: f64 = 1.25;

/// The variant that runs; `None` if none is legal.
pub(crate) fn decide(
    considered: &Considered<'_>,
    tuning: &Applied,
    adapter: AdapterKind,
) -> Option<(Candidate, Decision)> {
    let Considered { kernel, domain, candidates } = considered;
    let estimated = best(domain.kind, candidates)?;
    let legal: Vec<Candidate> = candidates.iter().flatten().copied().collect();
    if legal.len() == 1 {
        return Some((estimated, Decision::Only));
    }
    let found = if tuning.tables.is_empty() { None } else { find(considered, &legal, tuning, adapter) };
    // Smaller is better; the model decides where a table does not.
    let score = |at: usize| match &found {
        Some((_, estimate)) => (estimate.relative[at], legal[at].cost),
        None if domain.kind == DomainKind::Pointwise => (at as f64, 0.0),
        None => (legal[at].cost, 0.0),
    };
    let distance =
        |knobs: &crate::tune::knobs::Knobs, at: usize| knobs.distance(domain.kind, &kernel.variants[legal[at].variant]);
    let least = |of: &mut dyn Iterator<Item = usize>, rank: &dyn Fn(usize) -> f64| {
        let compare = |a: f64, b: f64| a.total_cmp(&b);
        of.min_by(|a, b| {
            let (x, y) = (score(*a), score(*b));
            compare(rank(*a), rank(*b)).then(compare(x.0, y.0)).then(compare(x.1, y.1))
        })
    };
    if let Some(overrides) = tuning.overrides().filter(|overrides| distance(overrides, 0).is_some()) {
        let chosen = least(&mut (0..legal.len()), &|at| distance(overrides, at).unwrap_or(f64::INFINITY))?;
        return Some((legal[chosen], Decision::Override));
    }
    if let Some((table, Estimate { distance, .. })) = &found {
        let chosen = least(&mut (0..legal.len()), &|_| 0.0)?;
        let decision = Decision::Table { name: table.name().to_owned(), status: table.status(), distance: *distance };
        return Some((legal[chosen], decision));
    }
    let knobs = &tuning.prior.knobs;
    if domain.kind != DomainKind::Pointwise && distance(knobs, 0).is_some() {
        let equal = |at: &usize| legal[*at].cost <= estimated.cost * EQUALLY_FAST;
        let chosen = least(&mut (0..legal.len()).filter(equal), &|at| distance(knobs, at).unwrap_or(f64::INFINITY))?;
        if legal[chosen].variant != estimated.variant {
            return Some((legal[chosen], Decision::Prior { name: tuning.prior.sizes_of.clone() }));
        }
    }
    Some((estimated, Decision::Estimate))
}

/// Limit of distance at which an entry's times apply: three times one size.
const NEAR: f64 = 1.585;

/// True if costs are times: the model was fitted to a discrete GPU, which no browser reports.
pub(crate) const fn costs_are_times(adapter: AdapterKind) -> bool {
    !cfg!(target_arch = "wasm32") && matches!(adapter, AdapterKind::Discrete)
}

/// Time of the chosen variant in the unit of costs: measured nearby by the deciding table, scaled by the model.
pub(crate) fn measured_time(considered: &Considered<'_>, tuning: &Applied) -> Option<f64> {
    let adapter = tuning.info.kind;
    if !costs_are_times(adapter) {
        return None;
    }
    let (chosen, Decision::Table { name, .. }) = decide(considered, tuning, adapter)? else { return None };
    let Considered { kernel, domain, .. } = considered;
    let variant = &kernel.variants[chosen.variant];
    let Key { class, sizes } = key(considered);
    let table = tuning.tables.iter().find(|table| table.name() == name)?;
    let (distance, entry) = table.nearest(&class, &sizes)?;
    let relative = entry.relative(&variant.name).filter(|_| distance <= NEAR)?;
    let machine = Machine::of(&tuning.info);
    let time = entry.microseconds * relative * machine.work_per_microsecond();
    // Measurements queue launches: the GPU does not wait for the host.
    let recording = recording(variant, &machine);
    let there = estimated(kernel, variant, &domain.at(&entry.sizes)?, &machine) - recording;
    Some(time * (chosen.cost - recording) / there + recording)
}

fn find<'t>(
    considered: &Considered<'_>,
    legal: &[Candidate],
    tuning: &'t Applied,
    adapter: AdapterKind,
) -> Option<(&'t Table, Estimate)> {
    let Key { class, sizes } = key(considered);
    let Considered { kernel, domain, .. } = considered;
    let variants = || legal.iter().map(|candidate| &kernel.variants[candidate.variant]);
    let names: Vec<&str> = variants().map(|variant| &*variant.name).collect();
    let machine = Machine::of(&tuning.info);
    let model = |at: &[u64]| -> Vec<f64> {
        // Sizes do not tell how far a window reaches past a workgroup's first query.
        let is_own = kernel.work.window.is_some() && at == sizes;
        match domain.at(at).filter(|_| !is_own) {
            Some(domain) => variants().map(|variant| estimated(kernel, variant, &domain, &machine)).collect(),
            None => legal.iter().map(|candidate| candidate.cost).collect(),
        }
    };
    // Fitted to a discrete GPU, the model would mislead estimates elsewhere.
    let leads = adapter == AdapterKind::Discrete;
    let fits = |sizes: &[u64]| domain.at(sizes).is_some_and(|domain| variants().all(|variant| fits(variant, &domain)));
    let estimate = |table: &Table| table.estimate(&class, &sizes, &names, &model, leads, &fits);
    tuning.tables.iter().find_map(|table| Some((&**table, estimate(table)?)))
}

#[cfg(test)]
pub(crate) mod tests {
    use fuse_artifact::{DomainKind, Features, Grid, Kernel, Pass, Schedule, Scratch, Variant, Work, schedule::Tile};

    use super::*;
    use crate::{
        context::info::tests::fitted_to,
        plan::{candidates::candidates, domain::Domain},
        tune::{
            table::{
                Entry,
                tests::{entry, table},
            },
            tuning::Tuning,
        },
    };

    fn variant(side: u32) -> Variant {
        let pass = Pass {
            wgsl: "".into(),
            bindings: vec![].into(),
            uniforms: vec![].into(),
            grid: Grid::Tiles { rows: side, columns: side },
            workgroup_size: 64,
            workgroup_bytes: 1024,
            pins_loads: false,
        };
        let schedule = Schedule::Tile(Tile::new(side, side, 16, [4, 4]));
        Variant {
            name: format!("tile {side}").into(),
            requires: vec![].into(),
            features: Features::default(),
            schedule,
            scratch: Scratch::default(),
            passes: vec![pass].into(),
        }
    }

    const KIND: DomainKind = DomainKind::Contraction { products: 1 };

    /// A square product of 256.
    pub(crate) const SIZES: &[u64] = &[1, 256, 256, 256];

    /// Variants `tile 32` and `tile 64`; `lhs`, the left operand's cost, changes the class if not 0.
    pub(crate) fn product(lhs: u32) -> Kernel {
        Kernel {
            name: "k".into(),
            domain: fuse_artifact::Domain { kind: KIND, extents: vec![].into(), fixed: false },
            accesses: vec![].into(),
            variants: vec![variant(32), variant(64)].into(),
            work: Work { lhs, ..Work::default() },
        }
    }

    pub(crate) fn of_sizes(kernel: &Kernel, adapter: AdapterKind) -> Considered<'_> {
        let domain = Domain { kind: KIND, extents: SIZES[1..].to_vec(), accesses: vec![], kept: 3 };
        let candidates = candidates(kernel, &domain, &fitted_to(adapter));
        Considered { kernel, domain, candidates }
    }

    pub(crate) fn timed(lhs: u32, sizes: &[u64], microseconds: f64, schedules: &[(&str, f64)]) -> Entry {
        let class = key(&of_sizes(&product(lhs), AdapterKind::Discrete)).class;
        Entry { microseconds, ..entry(&class, sizes, schedules) }
    }

    pub(crate) fn applied(entries: &[Entry], adapter: AdapterKind) -> Applied {
        let tuning = Tuning::native().without_built_in_tables().with_table(table(entries));
        Applied::new(&tuning, &fitted_to(adapter))
    }

    fn time(entries: &[Entry], adapter: AdapterKind) -> Option<f64> {
        let (kernel, machine) = (product(0), Machine::of(&fitted_to(adapter)));
        let time = measured_time(&of_sizes(&kernel, adapter), &applied(entries, adapter))?;
        Some((time - recording(&kernel.variants[0], &machine)) / machine.work_per_microsecond())
    }

    const BOTH: &[(&str, f64)] = &[("tile 64", 1.0), ("tile 32", 1.5)];

    #[test]
    fn tables_say_how_long_their_choice_takes() {
        let time = |sizes, schedules| time(&[timed(0, sizes, 7.0, schedules)], AdapterKind::Discrete).unwrap();
        assert!((time(SIZES, BOTH) - 7.0).abs() < 1e-9);
        assert!((time(SIZES, &BOTH[1..]) - 10.5).abs() < 1e-9);
        let less = time(&[1, 256, 256, 384], BOTH);
        assert!((7.0 / 1.5..7.0).contains(&less), "{less}");
    }

    #[test]
    fn what_no_table_measured_nearby_has_no_time() {
        assert_eq!(time(&[], AdapterKind::Discrete), None);
        assert_eq!(time(&[timed(0, &[1, 256, 256, 1024], 7.0, BOTH)], AdapterKind::Discrete), None, "too far");
        assert_eq!(time(&[timed(0, SIZES, 7.0, BOTH)], AdapterKind::Software), None, "another machine's model");
    }
}
