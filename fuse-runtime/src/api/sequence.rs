//! [`Sequence`]: launches checked, planned and bound once, then replayed.
//!
//! A replay looks nothing up and writes nothing: it encodes existing bind groups, with uniforms in a buffer of the
//! sequence. (WebGPU has bundles for render passes only.)

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::{
    api::{
        capture::{self, Capture, Guard},
        device::Device,
        raw::RawTensor,
        recording::{Dispatch, Place, Recorded},
        tensor::Tensor,
    },
    context::{
        bind::{BindGroups, Buffers, MAX_BINDINGS},
        element::Element,
        error::Error,
        fault::scoped,
        lock::lock,
        record::{Bound, Replayed},
    },
};

/// Launches captured by [`Device::capture`], which replay at less cost.
///
/// Owns its temporaries and shares the memory of inputs and results, which stay valid when their tensors are dropped.
pub struct Sequence {
    device: Device,
    recorded: Vec<Recorded>,
    bindings: Mutex<Bindings>,
    uniforms: wgpu::Buffer,
}

struct Bindings {
    places: Vec<Place>,
    /// Bind groups by step; none for copies.
    groups: Vec<Option<wgpu::BindGroup>>,
    /// Bind groups of all bindings so far: alternating tensors cost a lookup.
    cache: BindGroups,
    /// Places that moved after their dispatches were bound.
    moved: Vec<usize>,
}

impl Device {
    /// Captures the launches of `work` on this device without running them; returns the value of `work`, too.
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
    /// Results have values after the first replay; reading or launching with them before is an error. Host numbers keep
    /// their values at capture time. Pipelines are created while capturing.
    ///
    /// Replays see writes to captured tensors, and write to those that captured launches update. Before the first such
    /// write, a tensor whose memory clones share moves to memory of its own. Its later clones are copies, which replays
    /// do not change; within `work`, replays make that copy. A clone of a result made before the first replay refers to
    /// the same result.
    ///
    /// Only launches of the calling thread on this device are captured. Within `work`, reading, creating or writing
    /// tensors from the host, waiting, profiling, replaying and capturing are errors.
    ///
    /// # Errors
    /// Those of `work` and its launches, [`Error::Capturing`] as above or if the thread is already capturing, and those
    /// of allocation.
    pub fn capture<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(Sequence, R), Error> {
        self.context().fault.check()?;
        let guard = Guard::open(self.context())?;
        let result = work()?;
        let Capture { places, recorded, uniforms, .. } = guard.finish()?;
        Ok((Sequence::new(self.clone(), places, recorded, &uniforms)?, result))
    }
}

impl Sequence {
    pub(crate) fn new(
        device: Device,
        mut places: Vec<Place>,
        recorded: Vec<Recorded>,
        uniforms: &[u8],
    ) -> Result<Self, Error> {
        places.iter_mut().for_each(|place| _ = place.follow());
        let uniforms = uniform_buffer(&device, uniforms)?;
        let groups = recorded.iter().map(|_| None).collect();
        let mut bindings = Bindings { places, groups, cache: BindGroups::default(), moved: Vec::new() };
        bindings.bind(&device, &recorded, &uniforms, |_| true)?;
        Ok(Self { device, recorded, bindings: bindings.into(), uniforms })
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of dispatches per replay.
    pub fn dispatches(&self) -> usize {
        self.recorded.iter().filter_map(Recorded::dispatch).count()
    }

    /// Records the captured launches in one piece, after all earlier and before all later work, without waiting.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::NotReplayed`] for an input from another sequence that has not been replayed,
    /// [`Error::Capturing`] within [`Device::capture`].
    pub fn replay(&self) -> Result<(), Error> {
        let context = self.device.context();
        context.fault.check()?;
        capture::forbid(context, "replaying a sequence")?;
        let mut bindings = lock(&self.bindings);
        let bindings = &mut *bindings;
        bindings.follow(&self.device, &self.recorded, &self.uniforms)?;
        let Bindings { places, groups, .. } = bindings;
        if let Some(place) = places.iter().position(|place| place.input && !place.lease().is_ready()) {
            return Err(Error::NotReplayed { what: describe(&self.recorded, place) });
        }
        let storage = |place: usize| places[place].lease().storage();
        let replayed = self.recorded.iter().zip(groups.iter()).filter_map(|(recorded, group)| match recorded {
            Recorded::Dispatch(dispatch) => {
                let group = group.as_ref()?;
                Some(Replayed::Dispatch(Bound { step: dispatch.step(), group, offset: dispatch.offset }))
            }
            &Recorded::Copy { from, to, bytes } => Some(Replayed::Copy { from: storage(from), to: storage(to), bytes }),
        });
        let mark = |batch| places.iter().for_each(|place| place.lease().storage().used_in(batch));
        lock(&context.recorder).replay(replayed, mark);
        for place in places.iter().filter(|place| place.held.writes()) {
            place.lease().count_write();
            place.lease().set_ready();
        }
        Ok(())
    }

    /// Makes later replays use `new` wherever they read or wrote `old`; recorded work is unaffected.
    ///
    /// Costs a launch per dispatch that uses the tensor; less if the two alternated before.
    ///
    /// # Errors
    /// [`Error::Rebind`] if the sequence does not use `old` or already uses `new`, if shapes or devices differ, or if
    /// replays would write to memory that clones of `new` share. The sequence then stays unchanged.
    pub fn rebind<T: Element, const D: usize>(&mut self, old: &Tensor<T, D>, new: &Tensor<T, D>) -> Result<(), Error> {
        self.rebind_raw(old.raw(), new.raw())
    }

    /// Like [`rebind`](Self::rebind), for untyped tensors, with equal dtypes.
    #[doc(hidden)]
    pub fn rebind_raw(&mut self, old: &RawTensor, new: &RawTensor) -> Result<(), Error> {
        self.device.context().fault.check()?;
        let refuse = |expected: String, found: String| Err(Error::Rebind { expected, found });
        let bindings = self.bindings.get_mut().unwrap_or_else(PoisonError::into_inner);
        bindings.follow(&self.device, &self.recorded, &self.uniforms)?;
        let Some(place) = bindings.place(old) else {
            return refuse("a tensor that the sequence uses".into(), format!("another one, {}", shape_text(old)));
        };
        if !new.device().is(&self.device) {
            let adapter = |device: &Device| device.info().name.clone();
            let found = format!("one on another device, `{}`", adapter(new.device()));
            return refuse(format!("a tensor on the sequence's device, `{}`", adapter(&self.device)), found);
        }
        if (old.dtype(), old.shape()) != (new.dtype(), new.shape()) {
            return refuse(shape_text(old), shape_text(new));
        }
        match bindings.place(new) {
            Some(other) if other == place => return Ok(()),
            Some(other) => {
                let found = describe(&self.recorded, other);
                return refuse("a tensor that the sequence does not use yet".into(), found);
            }
            None => {}
        }
        if bindings.places[place].held.writes() && new.is_shared() {
            let expected = "a tensor whose memory no clone shares, because replays write to it (help: `copy` it)";
            return refuse(expected.into(), format!("{}, which clones share", shape_text(new)));
        }
        let mut previous = Place::of(new.tracked());
        if bindings.places[place].held.writes() {
            previous.write();
        }
        previous.input = bindings.places[place].input;
        std::mem::swap(&mut bindings.places[place], &mut previous);
        let rebound = bindings.bind(&self.device, &self.recorded, &self.uniforms, |places| places.contains(&place));
        if rebound.is_err() {
            bindings.places[place] = previous;
        }
        rebound
    }
}

/// Names a place by the argument or result that binds it last: callers can name that one.
fn describe(recorded: &[Recorded], place: usize) -> String {
    let mut names = recorded.iter().rev().filter_map(Recorded::dispatch).flat_map(|dispatch| {
        let bound = dispatch.places.iter().enumerate().filter(|(_, other)| **other == place);
        bound.filter_map(|(binding, _)| dispatch.plan.binding_name(dispatch.step, binding))
    });
    names.next().unwrap_or_else(|| "a tensor of the sequence".into())
}

impl Bindings {
    fn follow(&mut self, device: &Device, recorded: &[Recorded], uniforms: &wgpu::Buffer) -> Result<(), Error> {
        for (index, place) in self.places.iter_mut().enumerate() {
            if place.follow() {
                self.moved.push(index);
            }
        }
        if !self.moved.is_empty() {
            let moved = self.moved.clone();
            self.bind(device, recorded, uniforms, |places| places.iter().any(|place| moved.contains(place)))?;
            self.moved.clear();
        }
        Ok(())
    }

    fn place(&self, tensor: &RawTensor) -> Option<usize> {
        let id = tensor.buffer().storage().id;
        let own = self.places.iter().position(|place| place.is_of(tensor.tracked()));
        own.or_else(|| self.places.iter().position(|place| place.lease().storage().id == id))
    }

    fn bind(
        &mut self,
        device: &Device,
        recorded: &[Recorded],
        uniforms: &wgpu::Buffer,
        wanted: impl Fn(&[usize]) -> bool,
    ) -> Result<(), Error> {
        let Self { places, groups, cache, .. } = self;
        let wgpu = &device.context().wgpu;
        let bound = |dispatch: &Dispatch| {
            let mut buffers: Buffers<'_> = [None; MAX_BINDINGS];
            for (buffer, place) in buffers.iter_mut().zip(&dispatch.places) {
                *buffer = Some(places[*place].lease().storage());
            }
            buffers
        };
        let dispatches =
            || recorded.iter().enumerate().filter_map(|(index, recorded)| Some((index, recorded.dispatch()?)));
        let wanted = || dispatches().filter(|(_, dispatch)| wanted(&dispatch.places));
        // Error scopes, which the web does not await, cost several times as much as finding existing groups.
        #[cfg(not(target_arch = "wasm32"))]
        {
            let find = |(index, dispatch): (usize, &Dispatch)| {
                let group = cache.find(&dispatch.step().pipeline.layout, &bound(dispatch))?;
                Some((index, group.clone()))
            };
            if let Some(found) = wanted().map(find).collect::<Option<Vec<_>>>() {
                found.into_iter().for_each(|(index, group)| groups[index] = Some(group));
                return Ok(());
            }
        }
        let bind = |(index, dispatch): (usize, &Dispatch)| {
            let layout = &dispatch.step().pipeline.layout;
            (index, cache.get(wgpu, layout, uniforms, &bound(dispatch)).clone())
        };
        let made: Vec<_> = scoped(wgpu, || wanted().map(bind).collect())?;
        made.into_iter().for_each(|(index, group)| groups[index] = Some(group));
        Ok(())
    }
}

fn shape_text(tensor: &RawTensor) -> String {
    format!("{}{:?}", tensor.dtype(), tensor.shape())
}

fn uniform_buffer(device: &Device, uniforms: &[u8]) -> Result<wgpu::Buffer, Error> {
    let buffer = scoped(&device.context().wgpu, || {
        device.context().wgpu.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sequence"),
            size: (uniforms.len() as u64).next_multiple_of(16).max(16),
            usage: wgpu::BufferUsages::UNIFORM,
            mapped_at_creation: true,
        })
    })?;
    if !uniforms.is_empty() {
        match buffer.get_mapped_range_mut(..uniforms.len() as u64) {
            Ok(mut view) => view.slice(..).copy_from_slice(uniforms),
            Err(_) => {
                let fallback = Error::Internal { message: "the driver gave no memory to write to".into() };
                return Err(device.context().fault.check().err().unwrap_or(fallback));
            }
        }
    }
    buffer.unmap();
    Ok(buffer)
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("device", &self.device).field("dispatches", &self.dispatches()).finish()
    }
}
