//! [`Table`]: measured times of variants by class and sizes of kernels, and estimates for other sizes.
//!
//! Not here: files (`file`), classes (`plan::key`), choice for a device (`tuning`). The build script compiles this
//! file, too.

use std::sync::Arc;

use super::{
    distance::{distance, distance_of_choice},
    knobs::Knobs,
};
use crate::context::{
    environment::{Environment, Vendor},
    hardware::Hardware,
};
use crate::tune::order::sort_by;

/// Origin of a table's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Measured on the adapter that the table names.
    Measured,
    /// Expected, not measured.
    Prior,
}

impl Status {
    /// The name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Prior => "prior",
        }
    }
}

/// Adapters that a table matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Adapters {
    /// Their designer.
    pub vendor: Vendor,
    /// Parts of names, ignoring case; an adapter matches one, or any if empty.
    pub names: Vec<String>,
}

/// Place and date of a measurement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The adapter's name.
    pub adapter: String,
    /// Its driver, with the version.
    pub driver: String,
    /// The day, as `2026-11-21`.
    pub date: String,
}

/// Times of a kernel's variants for one class and size.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The class, for example `contraction f16·f16 depth·outer`.
    pub class: String,
    /// Contractions: batch, rows, columns, depth; reductions: rows, length; attentions: batch, queries, keys, head;
    /// pointwise: elements.
    pub sizes: Vec<u64>,
    /// Microseconds of the fastest variant.
    pub microseconds: f64,
    /// Names and relative times, fastest first. Others of the family could not run, or took [`CUT_OFF`] times as long.
    pub schedules: Vec<(String, f64)>,
    /// The kernel's variants when measured, sorted; if empty, all that it ever has.
    pub family: Arc<[String]>,
}

/// Known speed of kernels in one environment or on one family of adapters.
///
/// Built in, from `Device::tune`, or from files (`Table::load`, both with the feature `tune`).
/// [`Tuning::with_table`](crate::Tuning::with_table) applies it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) status: Status,
    pub(crate) environment: Option<Environment>,
    pub(crate) adapters: Option<Adapters>,
    pub(crate) measured: Option<Measured>,
    pub(crate) knobs: Knobs,
    pub(crate) hardware: Option<Hardware>,
    /// Sorted by class and sizes, each pair once.
    pub(crate) entries: Vec<Entry>,
}

/// Relative time from which entries omit variants.
pub const CUT_OFF: f64 = 2.0;

const NEIGHBORS: usize = 4;

/// Limit of [`distance_of_choice`]: eight times one size of a reduction.
const MAX_DISTANCE: f64 = 3.0;

/// Extra distance where all variants run: about four times one size.
const DETOUR: f64 = 2.0;

/// Exponent of the model's ratio between two sizes, which exaggerates. Fitted by leave-one-out choices
/// (`docs/tuning.md`).
const TRUST_IN_MODEL: f64 = 0.7;

/// Added to cubed distances, against division by zero: equal sizes outweigh all others.
const SAME: f64 = 1e-4;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) relative: Vec<f64>,
    pub(crate) distance: f64,
}

impl Table {
    /// The file's stem, or the name given to `Device::tune`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Measured or expected.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Its environment; `None` for any.
    pub fn environment(&self) -> Option<Environment> {
        self.environment
    }

    /// Its adapters; `None` for any.
    pub fn adapters(&self) -> Option<&Adapters> {
        self.adapters.as_ref()
    }

    /// Place and date of the measurement.
    pub fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref()
    }

    /// Figures of its adapters for the cost model.
    pub fn hardware(&self) -> Option<Hardware> {
        self.hardware
    }

    /// Replaces the figures of its adapters.
    #[must_use]
    pub fn with_hardware(mut self, hardware: Hardware) -> Self {
        self.hardware = Some(hardware);
        self
    }

    /// Its entries, sorted by class and sizes.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Restricts it to adapters of its vendor whose name contains one of these, ignoring case.
    #[must_use]
    pub fn for_adapters(mut self, names: Vec<String>) -> Self {
        if let Some(adapters) = &mut self.adapters {
            adapters.names = names;
        }
        self
    }

    /// Keeps the entries that satisfy `keep`.
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        self.entries.retain(keep);
    }

    /// The entry of exactly this class and these sizes.
    pub fn entry(&self, class: &str, sizes: &[u64]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| (&*entry.class, &*entry.sizes).cmp(&(class, sizes)));
        at.ok().map(|at| &self.entries[at])
    }

    /// Adds entries, replacing those of equal class and sizes.
    pub fn merge(&mut self, other: Self) {
        for entry in other.entries {
            self.insert(entry);
        }
    }

    /// Adds entries; of equal class and sizes, each schedule's least time, because disturbances only add time.
    pub fn merge_least(&mut self, other: Self) {
        for entry in other.entries {
            let known = self.entry(&entry.class, &entry.sizes).cloned();
            self.insert(known.map_or_else(|| entry.clone(), |known| known.least(&entry)));
        }
    }

    pub(crate) fn insert(&mut self, entry: Entry) {
        let key = (&*entry.class, &*entry.sizes);
        match self.entries.binary_search_by(|other| (&*other.class, &*other.sizes).cmp(&key)) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    pub(crate) fn is_about(&self, environment: Environment, vendor: Vendor, name: &str) -> bool {
        self.environment.is_none_or(|wanted| wanted == environment) && self.is_about_adapter(vendor, name)
    }

    /// Ignores the environment.
    pub(crate) fn is_about_adapter(&self, vendor: Vendor, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        let is_named = |wanted: &String| {
            let wanted = wanted.to_ascii_lowercase();
            // Browsers name some adapters by their vendor alone.
            wanted.strip_prefix('=').map_or_else(|| name.contains(&wanted), |whole| name == whole)
        };
        let named = |adapters: &Adapters| {
            adapters.vendor == vendor && (adapters.names.is_empty() || adapters.names.iter().any(is_named))
        };
        self.adapters.as_ref().is_none_or(named)
    }

    pub(crate) fn names_adapters(&self) -> bool {
        self.adapters.as_ref().is_some_and(|adapters| !adapters.names.is_empty())
    }

    pub(crate) fn has_class(&self, prefix: &str) -> bool {
        let first = self.entries.partition_point(|entry| &*entry.class < prefix);
        self.entries.get(first).is_some_and(|entry| entry.class.starts_with(prefix))
    }

    fn of_class(&self, class: &str) -> &[Entry] {
        let first = self.entries.partition_point(|entry| &*entry.class < class);
        let rest = &self.entries[first..];
        &rest[..rest.partition_point(|entry| entry.class == class)]
    }

    pub(crate) fn nearest(&self, class: &str, sizes: &[u64]) -> Option<(f64, &Entry)> {
        let entries = self.of_class(class).iter();
        let apart = entries.filter_map(|entry| Some((distance(&entry.sizes, sizes)?, entry)));
        apart.min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Estimates the times of `variants` from the class's nearest entries; `None` if none is near or knows a variant.
    ///
    /// Where the model `leads` on this adapter, entries correct it and it interpolates between sizes. `model` estimates
    /// all variants at any sizes, and alone rates those that an entry's family lacks. `fits` tells if all variants can
    /// run at other sizes.
    pub(crate) fn estimate(
        &self,
        class: &str,
        sizes: &[u64],
        variants: &[impl AsRef<str>],
        model: &dyn Fn(&[u64]) -> Vec<f64>,
        leads: bool,
        fits: &dyn Fn(&[u64]) -> bool,
    ) -> Option<Estimate> {
        let entries = self.of_class(class).iter();
        let mut near: Vec<(f64, &Entry)> =
            entries.filter_map(|entry| Some((distance_of_choice(class, &entry.sizes, sizes)?, entry))).collect();
        near.retain(|(distance, _)| *distance <= MAX_DISTANCE);
        sort_by(&mut near, |(a, _), (b, _)| a < b);
        // Entries do not tell variants that cannot run from slow ones.
        let reach = near.first()?.0 + DETOUR;
        let of_all = near.iter().filter(|(distance, entry)| {
            // At equal sizes, variants that cannot run are no candidates.
            *distance == 0.0 || *distance <= reach && fits(&entry.sizes)
        });
        let of_all: Vec<(f64, &Entry)> = of_all.take(NEIGHBORS).copied().collect();
        if !of_all.is_empty() {
            near = of_all;
        }
        near.truncate(NEIGHBORS);
        let (nearest, _) = *near.first()?;
        let known = |name: &str| near.iter().any(|(_, entry)| entry.relative(name).is_some());
        if !variants.iter().any(|name| known(name.as_ref())) {
            return None;
        }
        let weights: Vec<f64> = near.iter().map(|(distance, _)| 1.0 / (distance.powi(3) + SAME)).collect();
        let total: f64 = weights.iter().sum();
        // Times are ratios: logarithms are averaged.
        let covers_all = |entry: &Entry| variants.iter().all(|name| entry.covers(name.as_ref()));
        let is_asked = leads || near.iter().any(|(_, entry)| !covers_all(entry));
        let model = |sizes: &[u64]| -> Vec<f64> {
            let times = if is_asked { model(sizes) } else { vec![1.0; variants.len()] };
            times.iter().map(|time| TRUST_IN_MODEL * time.ln()).collect()
        };
        let here = model(sizes);
        let mut relative = if leads { here.clone() } else { vec![0.0; variants.len()] };
        for (weight, (_, entry)) in weights.iter().zip(&near) {
            let corrections = corrections(entry, variants, &here, &model(&entry.sizes), leads);
            for (relative, correction) in relative.iter_mut().zip(corrections) {
                *relative += weight / total * correction;
            }
        }
        Some(Estimate { relative: relative.into_iter().map(f64::exp).collect(), distance: nearest })
    }
}

impl Entry {
    /// A variant's time relative to the fastest, if listed.
    pub fn relative(&self, variant: &str) -> Option<f64> {
        self.schedules.iter().find(|(name, _)| name == variant).map(|(_, relative)| *relative)
    }

    /// True if the kernel had this variant when measured, even if it could not run.
    pub fn covers(&self, variant: &str) -> bool {
        self.family.is_empty() || self.family.binary_search_by(|name| (**name).cmp(variant)).is_ok()
    }
}

impl Entry {
    fn least(mut self, other: &Self) -> Self {
        for (name, relative) in &other.schedules {
            let relative = relative * other.microseconds / self.microseconds;
            match self.schedules.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = known.min(relative),
                None => self.schedules.push((name.clone(), relative)),
            }
        }
        sort_by(&mut self.schedules, |(_, a), (_, b)| a < b);
        let fastest = self.schedules.first().map_or(1.0, |(_, relative)| *relative);
        self.microseconds *= fastest;
        self.schedules.iter_mut().for_each(|(_, relative)| *relative /= fastest);
        // An empty family covers everything.
        if other.family.is_empty() {
            self.family = Arc::clone(&other.family);
        } else if other.family.iter().any(|name| !self.covers(name)) {
            let mut family = [&*self.family, &*other.family].concat();
            family.sort();
            family.dedup();
            self.family = family.into();
        }
        self
    }
}

/// Corrections of the model's logarithms by an entry, per variant.
///
/// `here` and `there` are the model's logarithms at the queried and the entry's sizes, which count only where the model
/// `leads`. Unlisted covered variants take at least [`CUT_OFF`] times the best, uncovered ones the model's time with
/// its average error for measured ones.
fn corrections(entry: &Entry, variants: &[impl AsRef<str>], here: &[f64], there: &[f64], leads: bool) -> Vec<f64> {
    let names = || variants.iter().map(AsRef::as_ref);
    let lead = |model: f64| if leads { model } else { 0.0 };
    let listed: Vec<Option<f64>> =
        names().map(|name| entry.relative(name).map(|relative| relative.min(CUT_OFF).ln())).collect();
    let count = listed.iter().flatten().count().max(1) as f64;
    let mean = |known: &dyn Fn(f64) -> f64| {
        let errors = listed.iter().zip(there).filter_map(|(listed, there)| Some((*listed)? - known(*there)));
        errors.sum::<f64>() / count
    };
    let (usual, off) = (mean(&lead), mean(&|model| model));
    let correction = |(at, name): (usize, &str)| match listed[at] {
        Some(listed) => listed - lead(there[at]),
        None if entry.covers(name) => (CUT_OFF.ln() - lead(there[at])).max(usual),
        None => off + here[at] - lead(here[at]),
    };
    names().enumerate().map(correction).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn entry(class: &str, sizes: &[u64], schedules: &[(&str, f64)]) -> Entry {
        let schedules = schedules.iter().map(|(name, relative)| ((*name).to_owned(), *relative)).collect();
        let family = Arc::default();
        Entry { class: class.to_owned(), sizes: sizes.to_vec(), microseconds: 10.0, schedules, family }
    }

    pub(crate) fn table(entries: &[Entry]) -> Table {
        let mut table = Table {
            name: "by hand".to_owned(),
            status: Status::Prior,
            environment: None,
            adapters: None,
            measured: None,
            knobs: Knobs::default(),
            hardware: None,
            entries: vec![],
        };
        entries.iter().for_each(|entry| table.insert(entry.clone()));
        table
    }

    fn flat(_: &[u64]) -> Vec<f64> {
        vec![1.0; 3]
    }

    fn anywhere(_: &[u64]) -> bool {
        true
    }

    fn best(table: &Table, sizes: &[u64], variants: &[&str]) -> Option<usize> {
        let estimate = table.estimate("c", sizes, variants, &flat, true, &anywhere)?;
        (0..variants.len()).min_by(|a, b| estimate.relative[*a].total_cmp(&estimate.relative[*b]))
    }

    #[test]
    fn the_nearest_entries_decide() {
        let table = table(&[
            entry("c", &[64, 64], &[("small", 1.0), ("large", 1.5)]),
            entry("c", &[256, 256], &[("large", 1.0), ("small", 1.5)]),
            entry("d", &[64, 64], &[("large", 1.0)]),
        ]);
        let variants = ["large", "small"];
        assert_eq!(best(&table, &[64, 64], &variants), Some(1));
        assert_eq!(best(&table, &[80, 80], &variants), Some(1));
        assert_eq!(best(&table, &[200, 200], &variants), Some(0));
        assert_eq!(table.estimate("c", &[64, 64], &variants, &flat, true, &anywhere).unwrap().distance, 0.0);
        let relative = table.estimate("c", &[64, 64], &variants, &flat, true, &anywhere).unwrap().relative;
        assert!((relative[1] - 1.0).abs() < 1e-3 && (relative[0] - 1.5).abs() < 1e-3, "{relative:?}");
    }

    #[test]
    fn the_model_leads_from_one_size_to_the_next() {
        let table = table(&[entry("c", &[64], &[("small", 1.0), ("large", 1.2)])]);
        // By the model, `large` gains a factor of four from 64 to 256; at 64 it takes 3 times as long as `small`.
        let model = |sizes: &[u64]| vec![if sizes[0] == 64 { 3.0 } else { 0.75 }, 1.0];
        let relative =
            |sizes: &[u64]| table.estimate("c", sizes, &["large", "small"], &model, true, &anywhere).unwrap().relative;
        assert!((relative(&[64])[0] / relative(&[64])[1] - 1.2).abs() < 1e-9, "what was measured stays");
        let trusted = 1.2 * 0.25_f64.powf(TRUST_IN_MODEL);
        assert!((relative(&[256])[0] / relative(&[256])[1] - trusted).abs() < 1e-9, "what was not follows the model");
    }

    #[test]
    fn what_is_far_or_unknown_is_not_decided() {
        let table = table(&[entry("c", &[64, 64], &[("small", 1.0), ("large", 1.5)])]);
        assert_eq!(table.estimate("c", &[64, 4096], &["small"], &flat, true, &anywhere), None, "too far");
        assert_eq!(table.estimate("c", &[64], &["small"], &flat, true, &anywhere), None, "other sizes");
        assert_eq!(table.estimate("e", &[64, 64], &["small"], &flat, true, &anywhere), None, "another class");
        assert_eq!(table.estimate("c", &[64, 64], &["other", "third"], &flat, true, &anywhere), None, "other variants");
    }

    #[test]
    fn unknown_members_count_as_the_cut_off() {
        let table = table(&[entry("c", &[64], &[("slow", 1.9), ("slower", 7.0)])]);
        assert_eq!(best(&table, &[64], &["unknown", "slow"]), Some(1));
        let relative =
            table.estimate("c", &[64], &["slow", "slower", "unknown"], &flat, true, &anywhere).unwrap().relative;
        assert_eq!(relative[1], relative[2]);
        assert!((relative[1] - CUT_OFF).abs() < 1e-9);
    }

    #[test]
    fn what_was_not_measured_wins_by_the_model_relative_to_what_was() {
        let variants = ["slow", "fast", "new"];
        let measured = entry("c", &[64], &[("fast", 1.0), ("slow", 1.5)]);
        let family: Arc<[String]> = ["fast", "other", "slow"].map(str::to_owned).into();
        let of = |family: &Arc<[String]>, new: f64, leads| {
            let table = table(&[Entry { family: family.clone(), ..measured.clone() }]);
            let model = |_: &[u64]| vec![8.0, 8.0, new];
            table.estimate("c", &[64], &variants, &model, leads, &anywhere).unwrap().relative
        };
        for leads in [true, false] {
            let [slow, fast, new] = of(&family, 4.0, leads)[..] else { unreachable!() };
            assert!((slow / fast - 1.5).abs() < 1e-9, "what was measured stays");
            let expected = 1.5_f64.sqrt() * 0.5_f64.powf(TRUST_IN_MODEL);
            assert!((new / fast - expected).abs() < 1e-9, "{new} of {fast}");
            assert!(new < fast);
            assert!(of(&family, 16.0, leads)[2] > slow);
            let known: Arc<[String]> = ["fast", "new", "slow"].map(str::to_owned).into();
            for family in [known, Arc::default()] {
                assert!((of(&family, 4.0, leads)[2] - CUT_OFF * of(&family, 4.0, leads)[1]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn merged_entries_cover_what_either_does() {
        let of = |family: &[&str]| Entry {
            family: family.iter().map(|name| (*name).to_owned()).collect(),
            ..entry("c", &[64], &[("a", 1.0)])
        };
        let merged = |a: &[&str], b: &[&str]| of(a).least(&of(b)).family.join(" ");
        assert_eq!(merged(&["a", "c"], &["a", "b"]), "a b c");
        assert_eq!(merged(&["a", "b"], &["b"]), "a b");
        assert_eq!([merged(&[], &["a"]), merged(&["a"], &[])], ["", ""], "what covers everything");
    }

    #[test]
    fn merging_replaces_and_adds() {
        let mut table = table(&[entry("c", &[64], &[("a", 1.0)]), entry("c", &[16], &[("a", 1.0)])]);
        let mut other = table.clone();
        other.retain(|entry| entry.sizes == [64]);
        other.insert(entry("c", &[64], &[("b", 1.0)]));
        other.insert(entry("b", &[64], &[("b", 1.0)]));
        table.merge(other);
        let keys: Vec<(&str, &[u64])> = table.entries().iter().map(|e| (&*e.class, &*e.sizes)).collect();
        assert_eq!(keys, [("b", &[64][..]), ("c", &[16]), ("c", &[64])]);
        assert_eq!(table.entry("c", &[64]).unwrap().schedules[0].0, "b");
        assert_eq!(table.entry("c", &[65]), None);
    }

    #[test]
    fn the_least_of_two_measurements_counts_for_each_member() {
        let mut table = table(&[entry("c", &[64], &[("a", 1.0), ("b", 1.5)]), entry("c", &[16], &[("a", 1.0)])]);
        let mut other = table.clone();
        other.entries.clear();
        other.insert(Entry { microseconds: 8.0, ..entry("c", &[64], &[("b", 1.0), ("a", 1.5), ("d", 2.5)]) });
        other.insert(entry("d", &[64], &[("b", 1.0)]));
        table.merge_least(other);
        let merged = table.entry("c", &[64]).unwrap();
        assert_eq!(merged.microseconds, 8.0);
        assert_eq!(merged.schedules, [("b".to_owned(), 1.0), ("a".to_owned(), 1.25), ("d".to_owned(), 2.5)]);
        assert_eq!(table.entries().len(), 3);
    }

    #[test]
    fn classes_are_found_in_their_order() {
        let table = table(&["b", "plan f 1", "plan f 2", "x"].map(|class| entry(class, &[1], &[("a", 1.0)])));
        assert_eq!(["b", "plan f 2", "x"].map(|class| table.of_class(class).len()), [1; 3]);
        assert_eq!(["a", "plan f", "y"].map(|class| table.of_class(class).len()), [0; 3]);
        let prefixes = ["plan f ", "plan", "x", "plan g", "y", "a"];
        assert_eq!(prefixes.map(|prefix| table.has_class(prefix)), [true, true, true, false, false, false]);
    }

    #[test]
    fn tables_are_about_adapters() {
        let mut table = table(&[]);
        let about = |table: &Table, vendor, name| table.is_about(Environment::Native, vendor, name);
        assert!(about(&table, Vendor::Other, "anything"));
        table.adapters = Some(Adapters { vendor: Vendor::Nvidia, names: vec!["H100".into(), "h200".into()] });
        assert!(about(&table, Vendor::Nvidia, "NVIDIA H200"));
        assert!(!about(&table, Vendor::Nvidia, "NVIDIA GeForce"));
        assert!(!about(&table, Vendor::Amd, "H200"));
        table.adapters = Some(Adapters { vendor: Vendor::Nvidia, names: vec!["h100".into(), "=Nvidia".into()] });
        assert_eq!(
            ["nvidia", "nvidia lovelace", "nvidia 0x2330 NVIDIA H100"].map(|name| about(&table, Vendor::Nvidia, name)),
            [true, false, true]
        );
        table.environment = Some(Environment::Firefox);
        assert!(!about(&table, Vendor::Nvidia, "NVIDIA H200"));
    }

    #[test]
    fn sizes_at_which_a_variant_cannot_run_say_nothing_about_it() {
        let whole = |sizes: &[u64]| sizes[0].is_multiple_of(64);
        let of_any = [176, 208].map(|size| entry("c", &[size], &[("any", 1.0)]));
        let estimate = |of_all: Entry| {
            let table = table(&[of_any.to_vec(), vec![of_all]].concat());
            table.estimate("c", &[192], &["any", "whole"], &flat, true, &whole).unwrap()
        };
        let near = estimate(entry("c", &[256], &[("whole", 1.0), ("any", 1.5)]));
        assert!(near.relative[1] < near.relative[0], "the nearest at which both run decides");
        let far = estimate(entry("c", &[1024], &[("whole", 1.0), ("any", 1.5)]));
        assert!(far.relative[0] < far.relative[1] && far.distance < 0.2, "where it is too far, others do");
    }
}
