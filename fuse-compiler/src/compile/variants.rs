//! Variants: a shader for each schedule of a group's family.

use std::iter;

use fuse_artifact::{Features, Pass, Schedule, Scratch, Variant, schedule::LANES};

use super::{
    dedup::{self, DedupEntry, GroupDedup},
    threads,
};
use crate::{
    fusion::{Contraction, Group, GroupKind},
    graph::ScheduleOverride,
    kernel::print::Dialect,
    schedule::{
        self,
        contraction::{ContractionSchedule, ScheduleSpec, rows},
    },
    wgsl::{self, names::Names},
};

/// Minimum per thread. A shader takes about 70 µs; on busy cores a new thread may wait some milliseconds.
const TEXTS_PER_THREAD: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FamilyScope {
    Full,
    /// Last schedule only, for rare shapes: any size and stride.
    FallbackOnly,
}

pub(super) struct VariantRequest<'a> {
    pub group: &'a Group,
    pub scope: FamilyScope,
    /// Schedule override in the program.
    pub schedule: Option<&'a ScheduleOverride>,
    /// Limits variants to these features, plus the last one, which runs on any adapter.
    pub features: Option<Features>,
}

/// `None` if the variant would exceed the binding limit.
type Writer<'a> = Box<dyn Fn() -> Option<Variant> + Send + Sync + 'a>;

pub(super) fn variants(wanted: &[VariantRequest<'_>], dialect: Dialect) -> Vec<Vec<Variant>> {
    let mut alike = GroupDedup::default();
    let known: Vec<DedupEntry> = wanted
        .iter()
        .enumerate()
        .map(|(at, request)| alike.find(at, request.group, |known| request.is_written_as(&wanted[known])))
        .collect();
    let names: Vec<Names> = wanted.iter().map(|wanted| Names::new(wanted.group, dialect)).collect();
    let mut writers: Vec<Writer<'_>> = vec![];
    let mut counts = Vec::with_capacity(wanted.len());
    for (at, wanted) in wanted.iter().enumerate() {
        let before = writers.len();
        if known[at].first == at {
            writers.extend(wanted.writers(&names[at]));
        }
        counts.push(writers.len() - before);
    }
    let mut written = threads::map(&writers, TEXTS_PER_THREAD, |write| write()).into_iter();
    let mut all: Vec<Vec<Variant>> = Vec::with_capacity(wanted.len());
    for (at, count) in counts.into_iter().enumerate() {
        let first = known[at].first;
        all.push(match first == at {
            true => written.by_ref().take(count).flatten().collect(),
            false => dedup::rebind_slots(&all[first], &known[first].slots, &known[at].slots),
        });
    }
    all
}

impl<'a> VariantRequest<'a> {
    fn is_written_as(&self, other: &Self) -> bool {
        (self.scope, self.schedule, self.features) == (other.scope, other.schedule, other.features)
    }

    fn writers(&self, names: &'a Names) -> Vec<Writer<'a>> {
        let group = self.group;
        let (workgroup, tile) = (self.schedule.and_then(|s| s.workgroup), self.schedule.and_then(|s| s.tile));
        match &group.kind {
            GroupKind::Pointwise => {
                let family = schedule::pointwise::family(group, workgroup);
                self.each(family, |s| Schedule::Pointwise(s.schedule), |s| Some(pointwise(group, names, s)))
            }
            GroupKind::Contraction(product) => {
                let family = schedule::contraction::family(group, product, tile);
                self.each(family, |s| s.schedule.into(), |s| Some(contraction(group, product, names, s)))
            }
            GroupKind::Reduction(reduction) => {
                let family = schedule::reduction::family(group, reduction, workgroup);
                let write = |s: &_| wgsl::reduction::variant(group, reduction, names, s);
                self.each(family, |s| Schedule::Reduction(s.schedule), write)
            }
            GroupKind::Attention(attention) => {
                let family = schedule::attention::family(group, attention);
                let write = |s: &_| Some(wgsl::attention::variant(group, attention, names, s));
                self.each(family, |s| Schedule::Attention(s.schedule), write)
            }
            GroupKind::WeightedSum(sum) => {
                let family = schedule::weighted_sum::family(group, sum);
                let write = |s: &_| Some(wgsl::weighted_sum::variant(group, sum, names, s));
                self.each(family, |s| Schedule::WeightedSum(s.schedule), write)
            }
        }
    }

    fn each<T: Send + Sync + 'a>(
        &self,
        family: Vec<T>,
        schedule: fn(&T) -> Schedule,
        write: impl Fn(&T) -> Option<Variant> + Copy + Send + Sync + 'a,
    ) -> Vec<Writer<'a>> {
        let f16 = self.group.uses_f16();
        let last = family.len().saturating_sub(1);
        let writer = |(i, scheduled): (usize, T)| {
            let features = Features { f16, ..schedule(&scheduled).features() };
            let runs = self.scope == FamilyScope::Full && self.features.is_none_or(|present| present.cover(features));
            let with_features = move |variant| Variant { features, ..variant };
            (runs || i == last).then(|| Box::new(move || write(&scheduled).map(with_features)) as Writer<'a>)
        };
        family.into_iter().enumerate().filter_map(writer).collect()
    }
}

fn pointwise(group: &Group, names: &Names, scheduled: &schedule::pointwise::ScheduleSpec) -> Variant {
    let schedule = Schedule::Pointwise(scheduled.schedule);
    Variant {
        scratch: Scratch::default(),
        name: schedule.to_string().into(),
        requires: scheduled.requires.clone().into(),
        features: schedule.features(),
        schedule,
        passes: vec![wgsl::pointwise::pointwise(group, names, scheduled)].into(),
    }
}

fn contraction(group: &Group, contraction: &Contraction, names: &Names, scheduled: &ScheduleSpec) -> Variant {
    let schedule = Schedule::from(scheduled.schedule);
    let per_output = if schedule.is_split() { contraction.rhs.len() as u32 } else { 0 };
    Variant {
        scratch: Scratch { per_output, per_row: 0 },
        name: schedule.to_string().into(),
        requires: scheduled.requires.clone().into(),
        features: schedule.features(),
        schedule,
        passes: contraction_passes(group, contraction, names, scheduled).into(),
    }
}

fn contraction_passes(group: &Group, contraction: &Contraction, names: &Names, scheduled: &ScheduleSpec) -> Vec<Pass> {
    let sums = |lanes| wgsl::second_pass::sums(group, contraction, names, lanes);
    let (first, second) = match scheduled.schedule {
        ContractionSchedule::Tile(tile) => {
            let second = tile.is_split().then(|| match rows::finishing_tile(group) {
                Some(finishing) => wgsl::row_parts(group, contraction, names, scheduled, finishing),
                None if tile.is_stream_k() => wgsl::second_pass::streams(group, contraction, names, tile),
                None => sums(tile.lanes),
            });
            (wgsl::tiles(group, contraction, names, scheduled, tile), second)
        }
        ContractionSchedule::Gemv(gemv) => {
            let lanes = if gemv.stores_vectors() { LANES } else { 1 };
            (wgsl::gemv(group, contraction, names, gemv), gemv.is_split().then(|| sums(lanes)))
        }
    };
    iter::once(first).chain(second).collect()
}
