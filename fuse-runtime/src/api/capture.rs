//! Captures: launches of one thread that become a [`Sequence`](crate::Sequence) instead of being recorded.
//!
//! Output: steps of a sequence, which owns their buffers. A capture is per thread: others can launch and capture
//! meanwhile.
//!
//! Invariant: memory that a capture takes stays with the sequence, which reuses what has no other holders.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
use crate::api::webnn::open;
use crate::{
    api::recording::{Dispatch, Place, Recorded},
    context::{
        Context,
        error::Error,
        hold::{Identity, Tracked},
        info::Limits,
        pool::Lease,
        record::{push_uniforms, uniform_alignment},
    },
    plan::launch_plan::LaunchPlan,
};

thread_local! {
    static OPEN: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// True if this thread captures the launches of a device.
pub(crate) fn is_open(context: &Context) -> bool {
    let of_device = |capture: &Capture| capture.context == address(context);
    // A thread that ends has no capture. A borrowed one is open: a driver's callback runs within it.
    OPEN.try_with(|open| open.try_borrow().map_or(true, |open| open.as_ref().is_some_and(of_device))).unwrap_or(false)
}

/// Refuses the operation `what` while capturing, or collecting for WebNN.
pub(crate) fn forbid(context: &Context, what: &'static str) -> Result<(), Error> {
    if is_deferred(context) { Err(Error::Capturing { what }) } else { Ok(()) }
}

pub(crate) fn is_deferred(context: &Context) -> bool {
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if open::is_open(context) {
        return true;
    }
    is_open(context)
}

/// A context outlives its captures.
fn address(context: &Context) -> usize {
    std::ptr::from_ref(context).addr()
}

pub(crate) fn with_open<R>(f: impl FnOnce(&mut Capture) -> Result<R, Error>) -> Result<R, Error> {
    let none = || Error::Internal { message: "no capture is open on this thread".into() };
    OPEN.with(|open| f(open.try_borrow_mut().ok().as_deref_mut().and_then(Option::as_mut).ok_or_else(none)?))
}

/// Ends the capture, also after errors and panics.
pub(crate) struct Guard;

impl Guard {
    pub(crate) fn open(context: &Context) -> Result<Self, Error> {
        let start = |open: &RefCell<Option<Capture>>| match open.try_borrow_mut().as_deref_mut() {
            Ok(open @ None) => {
                *open = Some(Capture::new(address(context)));
                Ok(Self)
            }
            Ok(Some(_)) | Err(_) => Err(Error::Capturing { what: "another capture" }),
        };
        OPEN.try_with(start).map_err(|_| Error::Internal { message: "a thread that ends cannot capture".into() })?
    }

    pub(crate) fn finish(self) -> Result<Capture, Error> {
        with_open(|capture| {
            let next = Capture::new(capture.context);
            Ok(std::mem::replace(capture, next))
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Dropped outside of the borrow: buffers go back to their pool.
        drop(OPEN.take());
    }
}

pub(crate) struct Capture {
    context: usize,
    pub(crate) places: Vec<Place>,
    /// Places of the capture's memory, by storage id.
    own: HashMap<u64, usize>,
    /// Places of other tensors, by identity: clones that share memory have several.
    others: HashMap<*const Identity, usize>,
    pub(crate) recorded: Vec<Recorded>,
    pub(crate) uniforms: Vec<u8>,
}

impl Capture {
    fn new(context: usize) -> Self {
        Self {
            context,
            places: Vec::new(),
            own: HashMap::new(),
            others: HashMap::new(),
            recorded: Vec::new(),
            uniforms: Vec::new(),
        }
    }

    pub(crate) fn allocate(&mut self, context: &Context, bytes: u64) -> Result<Arc<Lease>, Error> {
        let class = context.pool.class(bytes)?;
        // The sequence runs in order: memory that nobody else can name is free for later launches.
        let free = |place: &&Place| {
            let lease = place.lease();
            place.owned() && lease.storage().bytes == class && Arc::strong_count(lease) == 1
        };
        if let Some(place) = self.places.iter().rev().find(free) {
            return Ok(Arc::clone(place.lease()));
        }
        let lease = context.pool.lease_for_later(context.take(bytes)?.0);
        self.own.insert(lease.storage().id, self.places.len());
        self.places.push(Place::own(&lease));
        Ok(lease)
    }

    /// Memory for replays' copy of a result of this capture; `None` for other tensors.
    pub(crate) fn copy_of_result(
        &mut self,
        context: &Context,
        tensor: Tracked<'_>,
    ) -> Result<Option<Arc<Lease>>, Error> {
        let is_own = self.own.contains_key(&tensor.lease.storage().id);
        if is_own { self.copy(context, tensor).map(Some) } else { Ok(None) }
    }

    /// Memory for replays' copy of a written tensor. They make results of this capture anew: these share theirs.
    pub(crate) fn copy_of_written(&mut self, context: &Context, tensor: Tracked<'_>) -> Result<Arc<Lease>, Error> {
        let lease = tensor.lease;
        if self.own.contains_key(&lease.storage().id) { Ok(Arc::clone(lease)) } else { self.copy(context, tensor) }
    }

    fn copy(&mut self, context: &Context, tensor: Tracked<'_>) -> Result<Arc<Lease>, Error> {
        let from = self.read(tensor);
        let lease = self.allocate(context, tensor.bytes)?;
        let to = self.own[&lease.storage().id];
        if tensor.bytes > 0 {
            self.recorded.push(Recorded::Copy { from, to, bytes: tensor.words_bytes() });
        }
        Ok(lease)
    }

    pub(crate) fn dispatch(
        &mut self,
        limits: &Limits,
        (plan, index): (&Arc<LaunchPlan>, usize),
        places: Box<[usize]>,
        scalar: impl Fn(u16) -> u32,
    ) -> Result<(), Error> {
        let step = &plan.steps[index];
        let offset = push_uniforms(&mut self.uniforms, uniform_alignment(limits), step, scalar);
        let allowed = limits.buffer_bytes.min(u32::MAX.into());
        if self.uniforms.len() as u64 > allowed {
            return Err(Error::TooLarge {
                what: "sequence".into(),
                limit: "bytes of its uniform blocks",
                needed: self.uniforms.len() as u64,
                allowed,
            });
        }
        self.recorded.push(Recorded::Dispatch(Dispatch { plan: Arc::clone(plan), step: index, places, offset }));
        Ok(())
    }

    pub(crate) fn own_place(&self, lease: &Lease) -> Option<usize> {
        self.own.get(&lease.storage().id).copied()
    }

    pub(crate) fn read(&mut self, tensor: Tracked<'_>) -> usize {
        let place = self.place(tensor);
        self.places[place].read();
        place
    }

    pub(crate) fn write(&mut self, tensor: Tracked<'_>) -> usize {
        let place = self.place(tensor);
        self.places[place].write();
        place
    }

    fn place(&mut self, tensor: Tracked<'_>) -> usize {
        if let Some(&place) = self.own.get(&tensor.lease.storage().id) {
            return place;
        }
        let places = &mut self.places;
        let place = *self.others.entry(Arc::as_ptr(tensor.identity())).or_insert_with(|| {
            places.push(Place::of(tensor));
            places.len() - 1
        });
        // The tensor may have moved since an earlier launch.
        places[place].follow();
        place
    }
}
