//! The steps of a sequence, and the memory that they name.

use std::sync::Arc;

use crate::{
    context::{
        hold::{Follower, Identity, Tracked},
        pool::Lease,
        step::Step,
    },
    plan::launch_plan::LaunchPlan,
};

/// A step that a capture recorded.
pub(crate) enum Recorded {
    /// A dispatch.
    Dispatch(Dispatch),
    /// A copy from one place to another.
    Copy { from: usize, to: usize, bytes: u64 },
}

impl Recorded {
    pub(crate) fn dispatch(&self) -> Option<&Dispatch> {
        if let Self::Dispatch(dispatch) = self { Some(dispatch) } else { None }
    }
}

/// A buffer that dispatches name by its position.
pub(crate) struct Place {
    pub(crate) held: Follower,
    /// The tensor that it follows, and how often that had moved when it was seen last; none of what was made for the sequence.
    tensor: Option<(Arc<Identity>, u64)>,
    /// Whether its values come from before the sequence.
    pub(crate) input: bool,
}

impl Place {
    /// Of memory that was made for the sequence.
    pub(crate) fn own(lease: &Arc<Lease>) -> Self {
        let held = Follower::new(lease);
        held.set_writes();
        Self { held, tensor: None, input: false }
    }

    /// Of a tensor.
    pub(crate) fn of(tensor: Tracked<'_>) -> Self {
        let identity = Arc::clone(tensor.identity());
        let moves = identity.moves();
        Self { held: Follower::new(tensor.lease), tensor: Some((identity, moves)), input: false }
    }

    pub(crate) fn lease(&self) -> &Arc<Lease> {
        self.held.lease()
    }

    /// Whether it was made for the sequence.
    pub(crate) fn owned(&self) -> bool {
        self.tensor.is_none()
    }

    /// Notes that it is read.
    pub(crate) fn read(&mut self) {
        self.input |= !self.held.writes();
    }

    /// Notes that it is written.
    pub(crate) fn write(&mut self) {
        self.held.set_writes();
    }

    /// Goes where its tensor has moved; whether it has.
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

    /// Whether it is the place of a tensor.
    pub(crate) fn is_of(&self, tensor: Tracked<'_>) -> bool {
        self.tensor.as_ref().is_some_and(|(identity, _)| Arc::ptr_eq(identity, tensor.identity()))
    }
}

/// A dispatch of a plan with its buffers.
pub(crate) struct Dispatch {
    pub(crate) plan: Arc<LaunchPlan>,
    /// Which of the plan's steps.
    pub(crate) step: usize,
    /// The places of the step's bindings.
    pub(crate) places: Box<[usize]>,
    /// Where its uniform block lies, if it has one.
    pub(crate) offset: Option<u32>,
}

impl Dispatch {
    pub(crate) fn step(&self) -> &Step {
        &self.plan.steps[self.step]
    }
}
