//! Built-in tables: `tables/` as data, made by the build script.

use std::sync::Arc;

use crate::{
    context::{
        // Tables name control flow without its type.
        control_flow::ControlFlow::{If, Switch},
        environment::{Environment, Vendor},
        hardware::Hardware,
    },
    tune::{
        knobs::Knobs,
        table::{Adapters, Entry, Measured, Status, Table},
    },
};

/// Names are numbered, to keep web programs small.
pub(crate) struct BuiltIn {
    name: &'static str,
    status: Status,
    environment: Option<Environment>,
    adapters: Option<(Vendor, &'static [&'static str])>,
    /// Adapter, driver, date.
    measured: Option<[&'static str; 3]>,
    knobs: Knobs,
    hardware: Option<Hardware>,
    classes: &'static [&'static str],
    schedules: &'static [&'static str],
    /// Lists of schedules; none in browsers, where no model can rate unmeasured variants (`build.rs`).
    families: &'static [&'static [u16]],
    entries: &'static [BuiltInEntry],
}

/// Class, family, sizes, microseconds of the best, schedules with relative times.
type BuiltInEntry = (u16, u16, &'static [u32], f32, &'static [(u16, f32)]);

/// All built-in tables of this target, by name.
#[allow(clippy::approx_constant, reason = "measured times may come close to any number")]
static ALL: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/tables.rs"));

pub(crate) fn heads() -> impl Iterator<Item = Table> {
    ALL.iter().map(BuiltIn::head)
}

pub(crate) fn built_in(wanted: impl Fn(&Table) -> bool) -> impl Iterator<Item = Table> {
    // The head suffices to decide.
    ALL.iter().filter(move |table| wanted(&table.head())).map(BuiltIn::table)
}

impl BuiltIn {
    fn head(&self) -> Table {
        let adapters = |(vendor, names): (Vendor, &[&str])| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            Adapters { vendor, names }
        };
        let measured = |parts: [&str; 3]| {
            let [adapter, driver, date] = parts.map(str::to_owned);
            Measured { adapter, driver, date }
        };
        Table {
            name: self.name.to_owned(),
            status: self.status,
            environment: self.environment,
            adapters: self.adapters.map(adapters),
            measured: self.measured.map(measured),
            knobs: self.knobs,
            hardware: self.hardware,
            entries: vec![],
        }
    }

    fn table(&self) -> Table {
        let name = |names: &[&str], number: u16| names[usize::from(number)].to_owned();
        let family = |family: &&[u16]| family.iter().map(|schedule| name(self.schedules, *schedule)).collect();
        // Browsers' tables have no families, and pages no code for them.
        let with_families = !cfg!(target_arch = "wasm32");
        let families: Vec<Arc<[String]>> =
            if with_families { self.families.iter().map(family).collect() } else { Vec::new() };
        let entry = |(class, family, sizes, microseconds, schedules): &BuiltInEntry| Entry {
            class: name(self.classes, *class),
            sizes: sizes.iter().map(|size| u64::from(*size)).collect(),
            microseconds: f64::from(*microseconds),
            schedules: schedules
                .iter()
                .map(|(schedule, time)| (name(self.schedules, *schedule), f64::from(*time)))
                .collect(),
            family: families.get(usize::from(*family)).cloned().unwrap_or_default(),
        };
        // The build script sorts entries.
        Table { entries: self.entries.iter().map(entry).collect(), ..self.head() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_in_order() {
        for table in built_in(|_| true) {
            for entry in table.entries() {
                assert_eq!(table.entry(&entry.class, &entry.sizes), Some(entry), "{}", table.name());
            }
        }
    }

    #[test]
    fn heads_choose_tables() {
        let named = |name: &str| built_in(|table| table.name() == name).count();
        assert_eq!((named("firefox"), named("no such table")), (1, 0));
    }
}
