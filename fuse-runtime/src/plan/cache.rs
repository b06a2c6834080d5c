//! Plans by function, shapes and tuning, so that a steady-state launch plans nothing.

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

/// Plans that are kept, besides those of specialized launches.
const MAX_PLANS: usize = 4096;

/// Specialized plans that are kept: each has pipelines of its own.
const MAX_SPECIALIZED: usize = 256;

/// The plans of one device.
#[derive(Default)]
pub(crate) struct PlanCache {
    state: Mutex<CacheState>,
}

#[derive(Default)]
struct CacheState {
    /// By [`hash`]; functions with equal hashes share a list.
    plans: HashMap<u64, Vec<Arc<LaunchPlan>>>,
    /// The hashes of specialized plans, in the order in which they were made.
    specialized: VecDeque<u64>,
    forced: Forced,
}

/// What callers choose in place of the cost model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Forced {
    /// The variant name that `Device::force_variant` asked for.
    pub(crate) variant: Option<Arc<str>>,
    /// The alternative that `Device::force_alternative` asked for.
    pub(crate) alternative: Option<usize>,
}

impl Forced {
    pub(crate) fn selection<'a>(&'a self, tuning: &'a Applied) -> Selection<'a> {
        let variants = self.variant.as_deref().map_or(Variants::Best, Variants::Named);
        Selection { alternative: self.alternative, variants, ..Selection::by(tuning) }
    }
}

impl PlanCache {
    /// The plan of `function` for arguments of these shapes, in parameter order.
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
        // Planning may compile pipelines: other threads must not wait for that.
        let list: Vec<Shape> = shapes.clone().collect();
        let selection = Selection { sizes, ..forced.selection(tuning) };
        let plan = LaunchPlan::new(function, &list, selection, pipelines)?;
        let plan = Arc::new(plan);
        let mut state = lock(&self.state);
        // A plan made while something else was forced must not stay.
        if state.forced == forced {
            if state.plans.len() >= MAX_PLANS {
                state.retain(|plan| plan.sizes == Sizes::Constant);
            }
            let plans = state.plans.entry(key).or_default();
            // What another thread has specialized meanwhile stays.
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

    /// Changes what is forced from now on.
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
    /// Drops the other plans.
    fn retain(&mut self, keeps: impl Fn(&LaunchPlan) -> bool) {
        self.plans.retain(|_, plans| {
            plans.retain(|plan| keeps(plan));
            !plans.is_empty()
        });
    }

    /// Drops the specialized plan that was made first: launches of its shapes have general pipelines again.
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

/// Functions are told apart by address and, where they were made at run time, by number.
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
