//! Plans by function, shapes and tuning: a steady-state launch plans nothing.

use std::{
    collections::{HashMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    ptr,
    sync::{Arc, Mutex},
};

use fuse_artifact::Function;

use super::{
    launch_plan::LaunchPlan,
    selection::{Selection, Sizes, Variants},
};
use crate::{
    context::{callable::Callable, error::Error, lock::lock, pipeline::Pipelines, shape::Shape},
    tune::tuning::Applied,
};

/// Limit of unspecialized plans.
const MAX_PLANS: usize = 4096;

/// Each specialized plan has its own pipelines.
const MAX_SPECIALIZED: usize = 256;

#[derive(Default)]
pub(crate) struct PlanCache {
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    /// By [`hash`]; equal hashes share a list.
    plans: HashMap<u64, Vec<Arc<LaunchPlan>>>,
    /// Oldest first.
    specialized: VecDeque<u64>,
    forced: Forced,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Forced {
    /// Set by `Device::force_variant`.
    pub(crate) variant: Option<Arc<str>>,
    /// Set by `Device::force_alternative`.
    pub(crate) alternative: Option<usize>,
}

impl Forced {
    pub(crate) fn selection<'a>(&'a self, tuning: &'a Applied) -> Selection<'a> {
        let variants = self.variant.as_deref().map_or(Variants::Best, Variants::Named);
        Selection { alternative: self.alternative, variants, ..Selection::by(tuning) }
    }
}

impl PlanCache {
    pub(crate) fn get<S>(
        &self,
        pipelines: &Pipelines,
        tuning: &Applied,
        sizes: Sizes,
        function: &Callable,
        shapes: S,
    ) -> Result<Arc<LaunchPlan>, Error>
    where
        S: Iterator<Item = Shape> + Clone,
    {
        let key = hash(function, tuning.id, shapes.clone());
        let is_of = |plan: &LaunchPlan| {
            plan.function.is(function) && plan.tuning == tuning.id && plan.params.iter().copied().eq(shapes.clone())
        };
        let forced = {
            let state = lock(&self.state);
            let matches =
                |plan: &&Arc<LaunchPlan>| is_of(plan) && (sizes == Sizes::Uniform || plan.sizes == Sizes::Constant);
            if let Some(plan) = state.plans.get(&key).and_then(|plans| plans.iter().find(matches)) {
                return Ok(Arc::clone(plan));
            }
            state.forced.clone()
        };
        if pipelines.forget_gone() {
            lock(&self.state).retain(|plan| !plan.function.is_gone());
        }
        // Planning may compile pipelines: other threads must not wait.
        let list: Vec<Shape> = shapes.clone().collect();
        let selection = Selection { sizes, ..forced.selection(tuning) };
        let plan = LaunchPlan::new(function, &list, selection, pipelines)?;
        let plan = Arc::new(plan);
        let mut state = lock(&self.state);
        if state.forced == forced {
            if state.plans.len() >= MAX_PLANS {
                state.retain(|plan| plan.sizes == Sizes::Constant);
            }
            let plans = state.plans.entry(key).or_default();
            // Another thread's specialized plan stays.
            if !plans.iter().any(|plan| is_of(plan) && plan.sizes == Sizes::Constant) {
                plans.retain(|plan| !is_of(plan));
                plans.push(Arc::clone(&plan));
                if sizes == Sizes::Constant {
                    state.specialized.push_back(key);
                }
            }
            if state.specialized.len() > MAX_SPECIALIZED {
                state.forget_oldest();
                drop(state);
                pipelines.forget_unused();
            }
        }
        Ok(plan)
    }

    /// Changes the overrides and drops all plans.
    pub(crate) fn force(&self, change: impl FnOnce(&mut Forced)) {
        let mut state = lock(&self.state);
        change(&mut state.forced);
        state.plans.clear();
        state.specialized.clear();
    }

    pub(crate) fn forced(&self) -> Forced {
        lock(&self.state).forced.clone()
    }
}

impl CacheState {
    fn retain(&mut self, keeps: impl Fn(&LaunchPlan) -> bool) {
        self.plans.retain(|_, plans| {
            plans.retain(|plan| keeps(plan));
            !plans.is_empty()
        });
    }

    /// Drops the oldest specialized plan: its shapes use general pipelines again.
    fn forget_oldest(&mut self) {
        let Some(key) = self.specialized.pop_front() else { return };
        let Some(plans) = self.plans.get_mut(&key) else { return };
        if let Some(at) = plans.iter().position(|plan| plan.sizes == Sizes::Constant) {
            plans.remove(at);
        }
        if plans.is_empty() {
            self.plans.remove(&key);
        }
    }
}

/// Identifies functions by address and, if made at run time, by number.
fn hash(function: &Callable, tuning: u64, shapes: impl Iterator<Item = Shape>) -> u64 {
    let mut hasher = DefaultHasher::new();
    ptr::from_ref::<Function>(function).hash(&mut hasher);
    function.id().hash(&mut hasher);
    tuning.hash(&mut hasher);
    for shape in shapes {
        shape.hash(&mut hasher);
    }
    hasher.finish()
}
