//! Capturing: launches of one thread that become a [`Sequence`] instead of being recorded.
//!
//! Input: the launches of a closure, checked and planned. Output: a sequence that owns their buffers. A capture belongs
//! to the thread that runs the closure, so that other threads go on launching, and capture, at the same time.
//!
//! Invariant: memory that a capture takes stays with the sequence. Within it, memory that nobody else holds any more
//! serves again, as the pool's does outside.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use crate::{
    Device, Error, Sequence,
    hold::Identity,
    launch::Arg,
    plan::{LaunchPlan, MAX_BINDINGS, Step},
    pool::Lease,
    raw::RawTensor,
    record::{push_uniforms, uniform_alignment},
    sequence::{Dispatch, Place, Recorded},
};
use fuse_artifact::{Function, Slot};

thread_local! {
    /// The capture of this thread.
    static OPEN: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

impl Device {
    /// Captures the launches that `work` makes on this device, without running them, and gives what `work` gives.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Tensor1};
    /// # fn layer(x: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> { Ok(x.clone()) }
    /// # fn main() -> Result<(), Error> {
    /// # let device = Device::blocking()?;
    /// let mut x = Tensor1::zeros(&device, [1024])?;
    /// let (sequence, y) = device.capture(|| layer(&layer(&x)?))?; // checked, planned and bound once
    /// for step in 0..100 {
    ///     x.write(&[step as f32; 1024])?;
    ///     sequence.replay()?;
    ///     println!("{}", y.to_vec_blocking()?[0]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Tensors that captured launches return have values once the sequence has been replayed; before, reading them or
    /// launching with them is an error. Numbers of the host keep the value that they have while capturing. Pipelines are
    /// created while capturing, so that replays never wait for the driver's compiler.
    ///
    /// A sequence follows the tensors that it was captured with: replays see what is written to them, and write to those that
    /// captured launches update. A tensor that a captured launch updates or writes into moves to memory of its own first, if clones
    /// share its memory. From then on a clone of it is a copy, which later replays do not change; within `work`, replays make that
    /// copy. A clone of a result that is made before the first replay stands for the same result.
    ///
    /// Only the calling thread's launches are captured: other threads' launches run as always, and so do launches on
    /// other devices. Within `work`, what a sequence cannot repeat is an error: reading tensors, making tensors of host
    /// data, writing to them, waiting, profiling, replaying, capturing.
    ///
    /// # Errors
    /// Those of `work` and of its launches, [`Error::Capturing`] if `work` does one of the above or if the thread is
    /// capturing already, and those of allocation.
    pub fn capture<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(Sequence, R), Error> {
        self.inner.fault.check()?;
        let guard = Guard::open(self)?;
        let result = work()?;
        Ok((guard.finish()?, result))
    }
}

/// Whether this thread captures the launches of `device`.
pub(crate) fn is_open(device: &Device) -> bool {
    let of_device = |capture: &Capture| capture.device.is(device);
    // A thread that ends has no capture any more, and one that is at work on its capture (a driver's callback) has one.
    OPEN.try_with(|open| open.try_borrow().map_or(true, |open| open.as_ref().is_some_and(of_device))).unwrap_or(false)
}

/// An error if this thread captures the launches of `device`, or collects them for WebNN, which cannot hold `what`.
pub(crate) fn forbid(device: &Device, what: &'static str) -> Result<(), Error> {
    if is_deferred(device) { Err(Error::Capturing { what }) } else { Ok(()) }
}

/// Whether what this thread launches on `device` runs later: by a sequence, or by WebNN.
pub fn is_deferred(device: &Device) -> bool {
    #[cfg(all(feature = "webnn", target_arch = "wasm32"))]
    if crate::webnn::is_open(device) {
        return true;
    }
    is_open(device)
}

/// Runs `f` on this thread's capture.
pub(crate) fn with_open<R>(f: impl FnOnce(&mut Capture) -> Result<R, Error>) -> Result<R, Error> {
    let none = || Error::Internal { message: "no capture is open on this thread".into() };
    OPEN.with(|open| f(open.try_borrow_mut().ok().as_deref_mut().and_then(Option::as_mut).ok_or_else(none)?))
}

/// Ends the capture also when the captured closure fails or panics.
struct Guard;

impl Guard {
    fn open(device: &Device) -> Result<Self, Error> {
        let start = |open: &RefCell<Option<Capture>>| match open.try_borrow_mut().as_deref_mut() {
            Ok(open @ None) => {
                *open = Some(Capture::new(device));
                Ok(Self)
            }
            Ok(Some(_)) | Err(_) => Err(Error::Capturing { what: "another capture" }),
        };
        OPEN.try_with(start).map_err(|_| Error::Internal { message: "a thread that ends cannot capture".into() })?
    }

    fn finish(self) -> Result<Sequence, Error> {
        // The capture ends here even if the sequence cannot be made.
        let capture = with_open(|capture| {
            let next = Capture::new(&capture.device);
            Ok(std::mem::replace(capture, next))
        })?;
        Sequence::new(capture.device, capture.places, capture.recorded, &capture.uniforms)
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
    device: Device,
    places: Vec<Place>,
    /// Places of the capture's own memory, by the id of their storage.
    own: HashMap<u64, usize>,
    /// Places of other tensors, by their identity: clones that share memory are several.
    others: HashMap<*const Identity, usize>,
    recorded: Vec<Recorded>,
    uniforms: Vec<u8>,
}

impl Capture {
    fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            places: Vec::new(),
            own: HashMap::new(),
            others: HashMap::new(),
            recorded: Vec::new(),
            uniforms: Vec::new(),
        }
    }

    /// Memory for a result or a temporary of a captured launch.
    pub(crate) fn allocate(&mut self, bytes: u64) -> Result<Arc<Lease>, Error> {
        let inner = &self.device.inner;
        let class = inner.pool.class(bytes)?;
        // The sequence runs in order, so what nobody else can name any more is free for later launches.
        let free = |place: &&Place| {
            let lease = place.lease();
            place.owned() && lease.storage().bytes == class && Arc::strong_count(lease) == 1
        };
        if let Some(place) = self.places.iter().rev().find(free) {
            return Ok(Arc::clone(place.lease()));
        }
        let lease = inner.pool.lease_for_later(inner.take(bytes)?.0);
        self.own.insert(lease.storage().id, self.places.len());
        self.places.push(Place::own(&lease));
        Ok(lease)
    }

    /// Of a tensor that this capture makes, memory that replays copy it to; `None` of others.
    pub(crate) fn copy_of_result(&mut self, tensor: &RawTensor) -> Result<Option<Arc<Lease>>, Error> {
        let is_own = self.own.contains_key(&tensor.buffer().storage().id);
        if is_own { self.copy(tensor).map(Some) } else { Ok(None) }
    }

    /// Memory that replays copy a tensor to, which sequences write. What this capture makes is shared: it is made anew by each replay.
    pub(crate) fn copy_of_written(&mut self, tensor: &RawTensor) -> Result<Arc<Lease>, Error> {
        let lease = tensor.buffer();
        if self.own.contains_key(&lease.storage().id) { Ok(Arc::clone(lease)) } else { self.copy(tensor) }
    }

    fn copy(&mut self, tensor: &RawTensor) -> Result<Arc<Lease>, Error> {
        let from = self.read(tensor);
        let lease = self.allocate(tensor.bytes())?;
        let to = self.own[&lease.storage().id];
        if tensor.bytes() > 0 {
            self.recorded.push(Recorded::Copy { from, to, bytes: tensor.words_bytes() });
        }
        Ok(lease)
    }

    /// Captures a checked launch.
    pub(crate) fn launch<'r>(
        &mut self,
        function: &Function,
        plan: &Arc<LaunchPlan>,
        args: &[Arg<'_>],
        result: impl Fn(usize) -> &'r RawTensor,
    ) -> Result<(), Error> {
        // Also arguments that no dispatch of this plan binds can be rebound.
        let params: Vec<usize> = args.iter().map(|arg| arg.tensor().map_or(0, |x| self.read(x))).collect();
        let scales: Vec<Option<usize>> = args.iter().map(|arg| arg.scales().map(|scales| self.read(scales))).collect();
        for tensor in function.updates.iter().filter_map(|&update| args.get(usize::from(update))?.tensor()) {
            self.write(tensor);
        }
        let results: Vec<usize> = (0..plan.results.len()).map(|i| self.write(result(i))).collect();
        let scalar = |param: u16| args[usize::from(param)].scalar_bits();
        let mut temporaries: Vec<Option<Arc<Lease>>> = vec![None; plan.temporaries.len()];
        for (index, step) in plan.steps.iter().enumerate() {
            for (temporary, lease) in plan.temporaries.iter().zip(&mut temporaries) {
                if temporary.steps.is_some_and(|(first, _)| first == index) {
                    *lease = Some(self.allocate(temporary.bytes)?);
                }
            }
            let place = |slot: &Slot| match *slot {
                Slot::Param(i) => Some(params[usize::from(i)]),
                Slot::Scales(i) => scales[usize::from(i)],
                Slot::Result(i) => Some(results[usize::from(i)]),
                Slot::Temporary(i) => {
                    temporaries[usize::from(i)].as_ref().and_then(|lease| self.own.get(&lease.storage().id)).copied()
                }
                Slot::Scratch => None,
            };
            let places: Option<Box<[usize]>> = step.slots.iter().take(MAX_BINDINGS).map(place).collect();
            let unbound =
                || Error::Internal { message: format!("kernel `{}` binds a tensor without memory", step.label.kernel) };
            let places = places.ok_or_else(unbound)?;
            self.dispatch(plan, index, step, places, scalar)?;
            // What this step used last, a later one may write.
            for (temporary, lease) in plan.temporaries.iter().zip(&mut temporaries) {
                if temporary.steps.is_some_and(|(_, last)| last == index) {
                    *lease = None;
                }
            }
        }
        Ok(())
    }

    fn dispatch(
        &mut self,
        plan: &Arc<LaunchPlan>,
        index: usize,
        step: &Step,
        places: Box<[usize]>,
        scalar: impl Fn(u16) -> u32,
    ) -> Result<(), Error> {
        let limits = &self.device.info().limits;
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

    /// The place of a tensor that is read.
    fn read(&mut self, tensor: &RawTensor) -> usize {
        let place = self.place(tensor);
        self.places[place].read();
        place
    }

    /// The place of a tensor that is written.
    fn write(&mut self, tensor: &RawTensor) -> usize {
        let place = self.place(tensor);
        self.places[place].write();
        place
    }

    fn place(&mut self, tensor: &RawTensor) -> usize {
        if let Some(&place) = self.own.get(&tensor.buffer().storage().id) {
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
