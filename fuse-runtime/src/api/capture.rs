//! Capturing: launches of one thread that become a [`Sequence`] instead of being recorded.
//!
//! Input: the launches of a closure, checked and planned. Output: a sequence that owns their buffers. A capture belongs
//! to the thread that runs the closure, so that other threads go on launching, and capture, at the same time.
//!
//! Invariant: memory that a capture takes stays with the sequence. Within it, memory that nobody else holds any more
//! serves again, as the pool's does outside.

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
    /// The capture of this thread.
    static OPEN: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Whether this thread captures the launches of a device.
pub(crate) fn is_open(context: &Context) -> bool {
    let of_device = |capture: &Capture| capture.context == address(context);
    // A thread that ends has no capture any more, and one that is at work on its capture (a driver's callback) has one.
    OPEN.try_with(|open| open.try_borrow().map_or(true, |open| open.as_ref().is_some_and(of_device))).unwrap_or(false)
}

/// An error if this thread captures the launches of a device, or collects them for WebNN, which cannot hold `what`.
pub(crate) fn forbid(context: &Context, what: &'static str) -> Result<(), Error> {
    if is_deferred(context) { Err(Error::Capturing { what }) } else { Ok(()) }
}

/// Whether what this thread launches on a device runs later: by a sequence, or by WebNN.
pub(crate) fn is_deferred(context: &Context) -> bool {
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if open::is_open(context) {
        return true;
    }
    is_open(context)
}

/// A context lives as long as the call that captures on it, so that its address is its identity.
fn address(context: &Context) -> usize {
    std::ptr::from_ref(context).addr()
}

/// Runs `f` on this thread's capture.
pub(crate) fn with_open<R>(f: impl FnOnce(&mut Capture) -> Result<R, Error>) -> Result<R, Error> {
    let none = || Error::Internal { message: "no capture is open on this thread".into() };
    OPEN.with(|open| f(open.try_borrow_mut().ok().as_deref_mut().and_then(Option::as_mut).ok_or_else(none)?))
}

/// Ends the capture also when the captured closure fails or panics.
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

    /// Ends the capture, also if no sequence can be made of it.
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

/// Launches that have been captured so far.
pub(crate) struct Capture {
    /// The address of the context, which outlives the capture.
    context: usize,
    pub(crate) places: Vec<Place>,
    /// Places of the capture's own memory, by the id of their storage.
    own: HashMap<u64, usize>,
    /// Places of other tensors, by their identity: clones that share memory are several.
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

    /// Memory for a result or a temporary of a captured launch.
    pub(crate) fn allocate(&mut self, context: &Context, bytes: u64) -> Result<Arc<Lease>, Error> {
        let class = context.pool.class(bytes)?;
        // The sequence runs in order, so what nobody else can name any more is free for later launches.
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

    /// Of a tensor that this capture makes, memory that replays copy it to; `None` of others.
    pub(crate) fn copy_of_result(
        &mut self,
        context: &Context,
        tensor: Tracked<'_>,
    ) -> Result<Option<Arc<Lease>>, Error> {
        let is_own = self.own.contains_key(&tensor.lease.storage().id);
        if is_own { self.copy(context, tensor).map(Some) } else { Ok(None) }
    }

    /// Memory that replays copy a tensor to, which sequences write. What this capture makes is shared: it is made anew by each replay.
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

    /// The place of memory that was made for the sequence.
    pub(crate) fn own_place(&self, lease: &Lease) -> Option<usize> {
        self.own.get(&lease.storage().id).copied()
    }

    /// The place of a tensor that is read.
    pub(crate) fn read(&mut self, tensor: Tracked<'_>) -> usize {
        let place = self.place(tensor);
        self.places[place].read();
        place
    }

    /// The place of a tensor that is written.
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
        // It may have moved since an earlier launch.
        places[place].follow();
        place
    }
}
