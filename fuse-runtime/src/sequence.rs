//! Sequences of launches that were checked, planned and bound once.
//!
//! Input: what a capture kept. Output: dispatches recorded again, with the same buffers or with others in their place.
//! A replay looks nothing up and writes nothing: it encodes bind groups that exist, whose uniform blocks lie in a buffer
//! of the sequence's own. (WebGPU has bundles for render passes only, so commands must be encoded anew.)

use std::{fmt, sync::Arc};

use crate::{
    Device, Element, Error, Tensor,
    bind::BindGroups,
    capture,
    fault::scoped,
    lock::lock,
    plan::{LaunchPlan, MAX_BINDINGS, Step},
    pool::Lease,
    raw::RawTensor,
    record::{Bound, Buffers},
};

/// Launches that [`Device::capture`] kept, to run as often as wanted at less cost than calling them.
///
/// A sequence owns the memory of its temporaries and shares that of its inputs and results: they stay valid when the
/// program drops its tensors, and nothing else gets their memory while the sequence lives.
pub struct Sequence {
    device: Device,
    places: Vec<Place>,
    dispatches: Vec<Dispatch>,
    /// By dispatch.
    groups: Vec<wgpu::BindGroup>,
    /// Bind groups of this and earlier bindings, so that tensors that take turns cost a lookup.
    cache: BindGroups,
    uniforms: wgpu::Buffer,
}

/// A buffer that dispatches name by its position.
pub(crate) struct Place {
    pub(crate) lease: Arc<Lease>,
    /// Whether its values come from before the sequence.
    pub(crate) input: bool,
    pub(crate) written: bool,
    /// Whether it was made for the sequence.
    pub(crate) owned: bool,
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
    fn step(&self) -> &Step {
        &self.plan.steps[self.step]
    }
}

impl Sequence {
    /// A sequence of `dispatches`, whose uniform blocks are `uniforms`.
    pub(crate) fn new(
        device: Device,
        places: Vec<Place>,
        dispatches: Vec<Dispatch>,
        uniforms: &[u8],
    ) -> Result<Self, Error> {
        let uniforms = uniform_buffer(&device, uniforms)?;
        let mut sequence =
            Self { device, places, dispatches, groups: Vec::new(), cache: BindGroups::default(), uniforms };
        sequence.groups = sequence.bind(|_| true)?.into_iter().map(|(_, group)| group).collect();
        Ok(sequence)
    }

    /// The device that it runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// How many dispatches a replay records.
    pub fn dispatches(&self) -> usize {
        self.dispatches.len()
    }

    /// Runs the captured launches: after all work that the device recorded before, and before all that it records later.
    /// As a launch does, this records and does not wait. No other thread's work comes in between.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::NotReplayed`] if an input was made by another sequence that has not been
    /// replayed, [`Error::Capturing`] within [`Device::capture`].
    pub fn replay(&self) -> Result<(), Error> {
        let inner = &self.device.inner;
        inner.fault.check()?;
        capture::forbid(&self.device, "replaying a sequence")?;
        if let Some(place) = self.places.iter().position(|place| place.input && !place.lease.is_ready()) {
            return Err(Error::NotReplayed { what: self.describe(place) });
        }
        let bound = self.dispatches.iter().zip(&self.groups).map(|(dispatch, group)| Bound {
            step: dispatch.step(),
            group,
            offset: dispatch.offset,
        });
        let mark = |batch| self.places.iter().for_each(|place| place.lease.storage().used_in(batch));
        lock(&inner.recorder).replay(bound, mark);
        for Place { lease, .. } in self.places.iter().filter(|place| place.written) {
            lease.count_write();
            lease.set_ready();
        }
        Ok(())
    }

    /// From now on, replays use `new` wherever they used `old`, to read it or to write it. `new` must have the shape of
    /// `old`, and not be used by the sequence yet. Work that is recorded already is not affected.
    ///
    /// Costs as much as a launch for each dispatch that uses the tensor, or, if the two took turns before, less than a launch
    /// together with the replay.
    ///
    /// # Errors
    /// [`Error::Rebind`] if the sequence does not use `old`, if the shapes differ, if `new` is on another device, or if
    /// the sequence uses it already; the sequence stays as it was.
    pub fn rebind<T: Element, const D: usize>(&mut self, old: &Tensor<T, D>, new: &Tensor<T, D>) -> Result<(), Error> {
        self.rebind_raw(old.raw(), new.raw())
    }

    /// As [`rebind`](Self::rebind), for untyped tensors, whose dtypes must be equal, too.
    #[doc(hidden)]
    pub fn rebind_raw(&mut self, old: &RawTensor, new: &RawTensor) -> Result<(), Error> {
        self.device.inner.fault.check()?;
        let refuse = |expected: String, found: String| Err(Error::Rebind { expected, found });
        let Some(place) = self.place(old) else {
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
        match self.place(new) {
            Some(other) if other == place => return Ok(()),
            Some(other) => {
                let found = self.describe(other);
                return refuse("a tensor that the sequence does not use yet".into(), found);
            }
            None => {}
        }
        let previous = std::mem::replace(&mut self.places[place].lease, Arc::clone(new.buffer()));
        match self.bind(|dispatch| dispatch.places.contains(&place)) {
            Ok(groups) => {
                groups.into_iter().for_each(|(index, group)| self.groups[index] = group);
                Ok(())
            }
            Err(error) => {
                self.places[place].lease = previous;
                Err(error)
            }
        }
    }

    fn place(&self, tensor: &RawTensor) -> Option<usize> {
        let id = tensor.buffer().storage().id;
        self.places.iter().position(|place| place.lease.storage().id == id)
    }

    /// A place by the argument or result that binds it last: what callers can name is what the memory served as last.
    fn describe(&self, place: usize) -> String {
        let mut names = self.dispatches.iter().rev().flat_map(|dispatch| {
            let bound = dispatch.places.iter().enumerate().filter(|(_, other)| **other == place);
            bound.filter_map(|(binding, _)| dispatch.plan.binding_name(dispatch.step, binding))
        });
        names.next().unwrap_or_else(|| "a tensor of the sequence".into())
    }

    /// Bind groups of the dispatches that `wanted` accepts.
    fn bind(&mut self, wanted: impl Fn(&Dispatch) -> bool) -> Result<Vec<(usize, wgpu::BindGroup)>, Error> {
        let Self { device, places, dispatches, cache, uniforms, .. } = self;
        let wgpu = &device.inner.wgpu;
        let bound = |dispatch: &Dispatch| {
            let mut buffers: Buffers<'_> = [None; MAX_BINDINGS];
            for (buffer, place) in buffers.iter_mut().zip(&dispatch.places) {
                *buffer = Some(places[*place].lease.storage());
            }
            buffers
        };
        let wanted = || dispatches.iter().enumerate().filter(|(_, dispatch)| wanted(dispatch));
        // Error scopes, which the web does not wait for, cost several times as much as finding groups that exist.
        #[cfg(not(target_arch = "wasm32"))]
        {
            let find = |(index, dispatch): (usize, &Dispatch)| {
                let group = cache.find(&dispatch.step().pipeline.layout, &bound(dispatch))?;
                Some((index, group.clone()))
            };
            if let Some(groups) = wanted().map(find).collect() {
                return Ok(groups);
            }
        }
        let bind = |(index, dispatch): (usize, &Dispatch)| {
            let layout = &dispatch.step().pipeline.layout;
            (index, cache.get(wgpu, layout, uniforms, &bound(dispatch)).clone())
        };
        scoped(wgpu, || wanted().map(bind).collect())
    }
}

fn shape_text(tensor: &RawTensor) -> String {
    format!("{}{:?}", tensor.dtype(), tensor.shape())
}

/// A buffer with these uniform blocks.
fn uniform_buffer(device: &Device, uniforms: &[u8]) -> Result<wgpu::Buffer, Error> {
    let buffer = scoped(&device.inner.wgpu, || {
        device.inner.wgpu.create_buffer(&wgpu::BufferDescriptor {
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
                return Err(device.inner.fault.check().err().unwrap_or(fallback));
            }
        }
    }
    buffer.unmap();
    Ok(buffer)
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("device", &self.device).field("dispatches", &self.dispatches.len()).finish()
    }
}
