//! Steps of a sequence, and the memory that they name.

use std::sync::Arc;

use crate::{
    context::{
        hold::{Follower, Identity, Tracked},
        pool::Lease,
        step::Step,
    },
    plan::launch_plan::LaunchPlan,
};

pub(crate) enum Recorded {
    Dispatch(Dispatch),
    /// Copies bytes between two places.
    Copy {
        from: usize,
        to: usize,
        bytes: u64,
    },
}

impl Recorded {
    pub(crate) fn dispatch(&self) -> Option<&Dispatch> {
        if let Self::Dispatch(dispatch) = self { Some(dispatch) } else { None }
    }
}

/// A buffer of a sequence; dispatches name it by its position.
pub(crate) struct Place {
    pub(crate) held: Follower,
    /// Followed, with its last seen number of moves; `None` for memory of the sequence.
    tensor: Option<(Arc<Identity>, u64)>,
    /// True if its values come from before the sequence.
    pub(crate) input: bool,
}

impl Place {
    pub(crate) fn own(lease: &Arc<Lease>) -> Self {
        let held = Follower::new(lease);
        held.set_writes();
        Self { held, tensor: None, input: false }
    }

    pub(crate) fn of(tensor: Tracked<'_>) -> Self {
        let identity = Arc::clone(tensor.identity());
        let moves = identity.moves();
        Self { held: Follower::new(tensor.lease), tensor: Some((identity, moves)), input: false }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        self.held.lease()
    }

    pub(crate) fn owned(&self) -> bool {
        self.tensor.is_none()
    }

    pub(crate) fn read(&mut self) {
        self.input |= !self.held.writes();
    }

    pub(crate) fn write(&mut self) {
        self.held.set_writes();
    }

    /// Follows its tensor; true if it has moved.
    pub(crate) fn follow(&mut self) -> bool {
        let Some((identity, seen)) = &mut self.tensor else { return false };
        let moves = identity.moves();
        if moves == *seen {
            return false;
        }
        *seen = moves;
        let Some(lease) = identity.latest() else { return false };
        self.hold(&lease);
        true
    }

    fn hold(&mut self, lease: &Arc<Lease>) {
        let held = Follower::new(lease);
        if self.held.writes() {
            held.set_writes();
        }
        self.held = held;
    }

    pub(crate) fn is_of(&self, tensor: Tracked<'_>) -> bool {
        self.tensor.as_ref().is_some_and(|(identity, _)| Arc::ptr_eq(identity, tensor.identity()))
    }
}

pub(crate) struct Dispatch {
    pub(crate) plan: Arc<LaunchPlan>,
    pub(crate) step: usize,
    pub(crate) places: Box<[usize]>,
    pub(crate) offset: Option<u32>,
}

impl Dispatch {
    pub(crate) fn step(&self) -> &Step {
        &self.plan.steps[self.step]
    }
}
