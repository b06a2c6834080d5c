//! A [`Tuning`]: what a program wishes about the choice of variants; and what of it holds on a device.
//!
//! Not here: the choice (`plan::decide`).

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use fuse_artifact::{DomainKind, Schedule, Variant};

use super::{
    built_in::built_in,
    environment::Environment,
    key::vendor,
    table::{Knobs, Table},
};
use crate::{DeviceInfo, form::Style, plan::tile};

/// How variants of kernels are chosen: for which environment, by which tables, close to which sizes.
///
/// The default is the environment that the program runs in, with the built-in tables for its adapter. A value takes effect
/// for a device ([`DeviceBuilder::tuning`](crate::DeviceBuilder::tuning)) or for the launches of a closure
/// ([`Device::with_tuning`](crate::Device::with_tuning)).
///
/// ```
/// use fuse_runtime::Tuning;
///
/// // As Firefox would choose, but with workgroups of about 64 invocations and tiles of about 16 rows and columns.
/// let tuning = Tuning::firefox().workgroup_size(64).tile_size(16);
/// # assert_ne!(tuning, Tuning::default());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a tuning does nothing until a device or a scope takes it"]
pub struct Tuning {
    environment: Environment,
    wishes: Knobs,
    style: Style,
    /// Later ones come first.
    tables: Vec<Arc<Table>>,
    built_in: bool,
}

impl Default for Tuning {
    fn default() -> Self {
        Self::for_environment(Environment::present())
    }
}

impl Tuning {
    /// The choices for an environment, whichever the program runs in.
    pub fn for_environment(environment: Environment) -> Self {
        Self { environment, wishes: Knobs::default(), style: Style::default(), tables: Vec::new(), built_in: true }
    }

    /// The choices for native programs.
    pub fn native() -> Self {
        Self::for_environment(Environment::Native)
    }

    /// The choices for Chrome.
    pub fn chrome() -> Self {
        Self::for_environment(Environment::Chrome)
    }

    /// The choices for Edge.
    pub fn edge() -> Self {
        Self::for_environment(Environment::Edge)
    }

    /// The choices for Firefox.
    pub fn firefox() -> Self {
        Self::for_environment(Environment::Firefox)
    }

    /// The choices for Safari.
    pub fn safari() -> Self {
        Self::for_environment(Environment::Safari)
    }

    /// Prefers variants with workgroups of about so many invocations (0 counts as 1), of every kind of kernel. Of the
    /// variants that may run, the closest is taken, also if others are faster.
    pub fn workgroup_size(mut self, invocations: u32) -> Self {
        self.wishes.workgroup_size = Some(invocations.max(1));
        self
    }

    /// Prefers variants whose workgroups compute tiles of about so many rows and columns (0 counts as 1), of products and
    /// attentions. Of the variants that may run, the closest is taken, also if others are faster.
    pub fn tile_size(mut self, elements: u32) -> Self {
        self.wishes.tile_size = Some(elements.max(1));
        self
    }

    /// Whether functions may be less exact than documented: `tanh`, `erf`, `gelu`, `sin`, `cos`, `tan`, `log1p`, `expm1`,
    /// `softplus`, `mish` and those made of them then err by up to about 1e-6 absolutely, also where the result is small, and
    /// `relu`, `min` and `max` may lose NaN. Never so unless asked for.
    pub fn fast_math(mut self, fast: bool) -> Self {
        self.style.fast_math = fast;
        self
    }

    /// Whether shaders check each index natively, too, which costs time: launches are proven to stay inside their tensors.
    /// Browsers check in any case.
    pub fn bounds_checks(mut self, checked: bool) -> Self {
        self.style.bounds_checks = checked;
        self
    }

    /// Chooses by this table where it says something, before tables given earlier and before those that are built in. It
    /// is not compared with the device's adapter: who gives a table wants it.
    pub fn with_table(mut self, table: Table) -> Self {
        self.tables.insert(0, Arc::new(table));
        self
    }

    /// Chooses without the built-in tables: by those given, else by the cost model.
    pub fn without_built_in_tables(mut self) -> Self {
        self.built_in = false;
        self
    }

    /// The environment.
    pub fn environment(&self) -> Environment {
        self.environment
    }
}

/// What a tuning comes to on a device.
#[derive(Debug)]
pub(crate) struct Applied {
    /// Tells the plans of one tuning from those of another.
    pub(crate) id: u64,
    pub(crate) tuning: Tuning,
    /// In the order in which they are asked.
    pub(crate) tables: Vec<Arc<Table>>,
    /// What the environment is expected to like, with the table that says so.
    pub(crate) prior: Option<(String, Knobs)>,
}

impl Applied {
    /// What the program asks of shaders.
    pub(crate) fn style(&self) -> Style {
        self.tuning.style
    }

    pub(crate) fn new(tuning: &Tuning, info: &DeviceInfo) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let vendor = vendor(info);
        let serves = |table: &Table| tuning.built_in && table.is_about(tuning.environment, vendor, &info.name);
        let mut found: Vec<Table> = built_in(serves).collect();
        let prior = found.iter().find(|table| table.knobs != Knobs::default());
        let prior = prior.map(|table| (table.name.clone(), table.knobs));
        // What names adapters knows more than what is about all of them, and measurements more than priors.
        found.retain(|table| !table.entries.is_empty());
        found.sort_by_key(|table| (table.status != super::Status::Measured, table.adapters.is_none()));
        let tables = tuning.tables.iter().cloned().chain(found.into_iter().map(Arc::new)).collect();
        Self { id: IDS.fetch_add(1, Ordering::Relaxed), tuning: tuning.clone(), tables, prior }
    }

    /// What the program wishes; `None` if nothing.
    pub(crate) fn wishes(&self) -> Option<&Knobs> {
        Some(&self.tuning.wishes).filter(|wishes| **wishes != Knobs::default())
    }
}

impl Knobs {
    /// How far a variant is from these sizes, in powers of two; `None` if they say nothing about its kind.
    pub(crate) fn distance(&self, kind: DomainKind, variant: &Variant) -> Option<f64> {
        let apart = |a: u64, b: u32| ((a.max(1) as f64).log2() - f64::from(b.max(1)).log2()).abs();
        let invocations = variant.passes.first().map_or(1, |pass| u64::from(pass.workgroup_size));
        let workgroup = self.workgroup_size.map(|wish| apart(invocations, wish));
        let tiled = matches!(kind, DomainKind::Contraction { .. } | DomainKind::Attention);
        let tile = self.tile_size.filter(|_| tiled).map(|wish| {
            let [rows, columns, _] = tile(&variant.schedule);
            match variant.schedule {
                // An attention has all value columns of its rows; its keys are what a tile has across.
                Schedule::Attention { rows, keys, .. } => (apart(rows.into(), wish) + apart(keys.into(), wish)) / 2.0,
                _ => (apart(rows, wish) + apart(columns, wish)) / 2.0,
            }
        });
        match (workgroup, tile) {
            (None, None) => None,
            (workgroup, tile) => Some(workgroup.unwrap_or(0.0) + tile.unwrap_or(0.0)),
        }
    }
}
