//! Plans by function and shapes, so that a steady-state launch plans nothing.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    ptr,
    sync::{Arc, Mutex},
};

use fuse_artifact::Function;

use super::{LaunchPlan, Selection};
use crate::{Device, Error, lock::lock, shape::Shape};

/// Plans that are kept.
const MAX_PLANS: usize = 4096;

/// The plans of one device.
#[derive(Default)]
pub(crate) struct PlanCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By [`hash`]; functions with equal hashes share a list.
    plans: HashMap<u64, Vec<Arc<LaunchPlan>>>,
    /// The variant name that `Device::force_variant` asked for.
    forced: Option<Arc<str>>,
}

impl PlanCache {
    /// The plan of `function` for arguments of these shapes, in parameter order.
    pub(crate) fn get<S>(
        &self,
        device: &Device,
        function: &'static Function,
        shapes: S,
    ) -> Result<Arc<LaunchPlan>, Error>
    where
        S: Iterator<Item = Shape> + Clone,
    {
        let key = hash(function, shapes.clone());
        let forced = {
            let state = lock(&self.state);
            let matches = |plan: &&Arc<LaunchPlan>| {
                ptr::eq(plan.function, function) && plan.params.iter().copied().eq(shapes.clone())
            };
            if let Some(plan) = state.plans.get(&key).and_then(|plans| plans.iter().find(matches)) {
                return Ok(Arc::clone(plan));
            }
            state.forced.clone()
        };
        // Planning may compile pipelines: other threads must not wait for that.
        let selection = forced.as_deref().map_or(Selection::Best, Selection::Named);
        let shapes: Vec<Shape> = shapes.collect();
        let plan = LaunchPlan::new(function, &shapes, device.info(), selection, &device.inner.pipelines)?;
        let plan = Arc::new(plan);
        let mut state = lock(&self.state);
        // A plan made for another forced variant must not stay.
        if state.forced == forced {
            if state.plans.len() >= MAX_PLANS {
                state.plans.clear();
            }
            state.plans.entry(key).or_default().push(Arc::clone(&plan));
        }
        Ok(plan)
    }

    /// From now on, prefers variants of this name.
    pub(crate) fn force(&self, name: Option<&str>) {
        let mut state = lock(&self.state);
        state.forced = name.map(Arc::from);
        state.plans.clear();
    }

    pub(crate) fn forced(&self) -> Option<Arc<str>> {
        lock(&self.state).forced.clone()
    }
}

/// Functions are told apart by address: artifacts are `static`.
fn hash(function: &'static Function, shapes: impl Iterator<Item = Shape>) -> u64 {
    let mut hasher = DefaultHasher::new();
    ptr::from_ref(function).hash(&mut hasher);
    for shape in shapes {
        shape.hash(&mut hasher);
    }
    hasher.finish()
}
