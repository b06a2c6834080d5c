//! [`RawTensor`]: the tensor below [`Tensor`](crate::Tensor), with dtype and rank as values.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use fuse_artifact::DType;
use half::f16;

use crate::{
    api::{capture, device::Device, text::text},
    context::{
        element::{Element, scalar_bytes},
        error::Error,
        hold::{Follower, Identity, Tracked},
        lock::lock,
        pool::Lease,
        readback,
        shape::{Shape, checked_bytes},
        upload::{Source, overwrite, upload},
    },
};

/// A contiguous tensor whose dtype and rank are known at run time.
///
/// Clones share the memory: call [`own`](Self::own) before writing.
pub struct RawTensor {
    device: Device,
    hold: Hold,
    identity: OnceLock<Arc<Identity>>,
    dtype: DType,
    shape: Shape,
}

enum Hold {
    Value(Arc<Lease>),
    /// Sees writes to another tensor.
    Follower(Arc<Follower>),
}

impl Hold {
    fn lease(&self) -> &Arc<Lease> {
        match self {
            Self::Value(lease) => lease,
            Self::Follower(follower) => follower.lease(),
        }
    }
}

impl RawTensor {
    /// Uploads the bytes of its elements (four per `bool`).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::TooLarge`], and those of allocation.
    pub fn from_bytes(device: &Device, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Self, Error> {
        let shape = Shape::new(shape)?;
        let expected = shape.elements().and_then(|elements| elements.checked_mul(dtype.bytes()));
        if expected != Some(bytes.len() as u64) {
            return Err(length_mismatch(&shape, bytes.len() as u64 / dtype.bytes()));
        }
        Self::upload(device, dtype, shape, Source::Bytes(bytes))
    }

    pub(crate) fn upload(device: &Device, dtype: DType, shape: Shape, source: Source<'_>) -> Result<Self, Error> {
        tensor_bytes(device, "tensor", dtype, &shape)?;
        capture::forbid(device.context(), "making a tensor of host data")?;
        Ok(Self::from_parts(device, upload(device.context(), source)?, dtype, shape))
    }

    /// Replaces the values in place, after recorded work, also of clones that share the memory.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::DeviceLost`], [`Error::Capturing`] within [`Device::capture`].
    pub fn overwrite(&self, bytes: &[u8]) -> Result<(), Error> {
        self.check_write(bytes)?;
        overwrite(self.device.context(), self.buffer(), bytes)
    }

    /// Replaces the values in memory of its own.
    ///
    /// # Errors
    /// Those of [`overwrite`](Self::overwrite), and of allocation.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.check_write(bytes)?;
        if self.is_shared() && self.buffer().is_ready() {
            let context = self.device.context();
            context.fault.check()?;
            let lease = context.pool.lease(context.take(self.bytes())?.0);
            self.move_to(lease);
        }
        overwrite(self.device.context(), self.buffer(), bytes)
    }

    fn check_write(&self, bytes: &[u8]) -> Result<(), Error> {
        if self.bytes() != bytes.len() as u64 {
            return Err(length_mismatch(&self.shape, bytes.len() as u64 / self.dtype.bytes()));
        }
        capture::forbid(self.device.context(), "writing to a tensor")
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.buffer().tensors() > 1
    }

    /// Moves it and its followers to memory of its own, if others share it.
    ///
    /// # Errors
    /// Those of allocation, and [`Error::NotReplayed`].
    pub fn own(&mut self) -> Result<(), Error> {
        if self.is_shared() { self.leave_clones() } else { Ok(()) }
    }

    #[cold]
    fn leave_clones(&mut self) -> Result<(), Error> {
        let captured = capture::is_open(self.device.context());
        if captured
            && let Some(lease) =
                capture::with_open(|capture| capture.copy_of_result(self.device.context(), self.tracked()))?
        {
            self.hold = Hold::Value(lease);
            self.identity = OnceLock::new();
            return Ok(());
        }
        // Values from before a capture are copied once: replays continue with those that the last one left.
        let lease = self.copied()?;
        self.move_to(lease);
        Ok(())
    }

    fn move_to(&mut self, lease: Arc<Lease>) {
        lease.count_on_from(self.buffer());
        if let Some(identity) = self.identity.get() {
            identity.move_to(&lease);
        }
        self.hold = Hold::Value(lease);
    }

    /// A handle that sees writes to this tensor, as do its clones.
    pub fn follow(&self) -> Self {
        let identity = Arc::clone(self.identity());
        let lease = match &self.hold {
            Hold::Value(lease) => Arc::clone(lease),
            Hold::Follower(follower) => identity.latest().unwrap_or_else(|| Arc::clone(follower.lease())),
        };
        Self { hold: Hold::Follower(Arc::new(Follower::new(&lease))), identity: identity.into(), ..self.shared(lease) }
    }

    /// The tensor as a value: for a follower, a clone of the followed tensor.
    pub fn value(&self) -> Self {
        match &self.hold {
            Hold::Value(_) => self.clone(),
            Hold::Follower(_) => {
                let latest = self.identity.get().and_then(|identity| identity.latest());
                self.shared(latest.unwrap_or_else(|| Arc::clone(self.buffer()))).clone()
            }
        }
    }

    pub(crate) fn tracked(&self) -> Tracked<'_> {
        Tracked { lease: self.buffer(), identity: &self.identity, bytes: self.bytes() }
    }

    pub(crate) fn identity(&self) -> &Arc<Identity> {
        self.identity.get_or_init(Arc::default)
    }

    fn shared(&self, lease: Arc<Lease>) -> Self {
        let Self { device, dtype, shape, .. } = self;
        Self {
            device: device.clone(),
            hold: Hold::Value(lease),
            identity: OnceLock::new(),
            dtype: *dtype,
            shape: *shape,
        }
    }

    fn clone_memory(&self) -> Result<Arc<Lease>, Error> {
        let lease = self.buffer();
        if lease.has_writer() {
            if capture::is_open(self.device.context()) {
                return capture::with_open(|capture| capture.copy_of_written(self.device.context(), self.tracked()));
            }
            if lease.is_ready() {
                return self.copied();
            }
        }
        Ok(Arc::clone(lease))
    }

    /// Copies the values to memory of their own.
    ///
    /// # Errors
    /// Those of allocation, [`Error::NotReplayed`], [`Error::Capturing`] within [`Device::capture`].
    pub fn copy(&self) -> Result<Self, Error> {
        capture::forbid(self.device.context(), "copying a tensor")?;
        Ok(Self::from_parts(&self.device, self.copied()?, self.dtype, self.shape))
    }

    fn copied(&self) -> Result<Arc<Lease>, Error> {
        if !self.buffer().is_ready() {
            return Err(Error::NotReplayed { what: format!("a tensor of {}{:?}", self.dtype, self.shape()) });
        }
        let context = self.device.context();
        context.fault.check()?;
        let lease = context.pool.lease(context.take(self.bytes())?.0);
        if self.bytes() > 0 {
            lock(&context.recorder).copy(self.buffer().storage(), lease.storage(), self.tracked().words_bytes());
        }
        Ok(lease)
    }

    pub(crate) fn from_parts(device: &Device, buffer: Arc<Lease>, dtype: DType, shape: Shape) -> Self {
        Self { device: device.clone(), hold: Hold::Value(buffer), identity: OnceLock::new(), dtype, shape }
    }

    /// The device that holds it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape.elements().unwrap_or(0) as usize
    }

    /// The bytes of its elements, without padding.
    pub fn bytes(&self) -> u64 {
        self.elements() as u64 * self.dtype.bytes()
    }

    /// The same elements with another shape; its followers follow this tensor.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the shape holds another number of elements.
    pub fn reshape(&self, dims: &[usize]) -> Result<Self, Error> {
        let shape = Shape::new(dims)?;
        if shape.elements() != Some(self.elements() as u64) {
            return Err(length_mismatch(&shape, self.elements() as u64));
        }
        let mut reshaped = self.clone();
        // A clone of a sequence's output is a copy, hence another tensor.
        if Arc::ptr_eq(reshaped.buffer(), self.buffer()) {
            reshaped.identity = Arc::clone(self.identity()).into();
        }
        Ok(reshaped.with_shape(shape))
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn read_blocking<R>(&self, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.check_read()?;
        readback::read_blocking(self.device.context(), self.buffer().storage(), self.bytes(), decode)
    }

    pub(crate) async fn read<R>(&self, decode: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.check_read()?;
        readback::read(self.device.context(), self.buffer().storage(), self.bytes(), decode).await
    }

    fn check_read(&self) -> Result<(), Error> {
        let context = self.device.context();
        context.fault.check()?;
        capture::forbid(context, "reading a tensor back")?;
        if !self.buffer().is_ready() {
            let what = format!("a tensor of {}{:?}", self.dtype(), self.shape());
            return Err(Error::NotReplayed { what });
        }
        Ok(())
    }

    /// Reads the bytes of its elements back.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Readback`], and errors of earlier work.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_bytes_blocking(&self) -> Result<Vec<u8>, Error> {
        self.read_blocking(<[u8]>::to_vec)
    }

    /// Reads the bytes of its elements back.
    ///
    /// # Errors
    /// As [`to_bytes_blocking`](Self::to_bytes_blocking).
    pub async fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.read(<[u8]>::to_vec).await
    }

    /// Untyped form of [`Tensor::text`](crate::Tensor::text).
    ///
    /// # Errors
    /// Those of [`to_bytes`](Self::to_bytes).
    pub async fn text(&self) -> Result<String, Error> {
        Ok(self.text_of(&self.to_bytes().await?))
    }

    /// Blocking form of [`text`](Self::text).
    ///
    /// # Errors
    /// Those of [`text`](Self::text).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn text_blocking(&self) -> Result<String, Error> {
        Ok(self.text_of(&self.to_bytes_blocking()?))
    }

    fn text_of(&self, bytes: &[u8]) -> String {
        let shape = self.shape();
        match self.dtype {
            DType::F32 => text(&f32::decode(bytes), shape),
            DType::F16 => text(&f16::decode(bytes), shape),
            DType::I32 => text(&i32::decode(bytes), shape),
            DType::U32 => text(&u32::decode(bytes), shape),
            DType::Bool => text(&bool::decode(bytes), shape),
        }
    }

    /// Counts replacements of the values, by [`overwrite`](Self::overwrite), launches or replays, also through shared
    /// memory.
    pub fn writes(&self) -> u64 {
        let latest = match (&self.hold, self.identity.get()) {
            (Hold::Follower(_), Some(identity)) => identity.latest(),
            _ => None,
        };
        latest.as_ref().unwrap_or(self.buffer()).writes()
    }

    /// Counts the holders of its memory: clones, reshaped tensors, followers, sequences.
    pub fn lease_holders(&self) -> usize {
        Arc::strong_count(self.buffer())
    }

    pub(crate) fn dims(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn with_shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    pub(crate) fn buffer(&self) -> &Arc<Lease> {
        self.hold.lease()
    }
}

const MAX_SCALARS: usize = 1024;

impl Device {
    /// A host number as a rank-0 tensor; equal numbers share memory. `bits` are those of
    /// [`Uniform::Scalar`](fuse_artifact::Uniform::Scalar).
    #[doc(hidden)]
    pub fn scalar_tensor(&self, dtype: DType, bits: u32) -> Result<RawTensor, Error> {
        let cached = lock(&self.inner.scalars).get(&(dtype, bits)).cloned();
        if let Some(buffer) = cached {
            return Ok(RawTensor::from_parts(self, buffer, dtype, Shape::SCALAR));
        }
        // Allowed within captures: the number never changes.
        let buffer = upload(self.context(), Source::Bytes(&scalar_bytes(dtype, bits)))?;
        let tensor = RawTensor::from_parts(self, buffer, dtype, Shape::SCALAR);
        let mut scalars = lock(&self.inner.scalars);
        if scalars.len() >= MAX_SCALARS {
            scalars.clear();
        }
        scalars.insert((dtype, bits), Arc::clone(tensor.buffer()));
        Ok(tensor)
    }
}

/// Clones of tensors that a sequence writes are recorded copies; the device's next call reports errors. Clones of
/// tensors without values refer to the same result.
impl Clone for RawTensor {
    fn clone(&self) -> Self {
        if let Hold::Follower(follower) = &self.hold {
            let moved = self.identity.get().and_then(|identity| identity.latest());
            return match moved.filter(|latest| !Arc::ptr_eq(latest, follower.lease())) {
                Some(_) => self.follow(),
                None => Self {
                    hold: Hold::Follower(Arc::clone(follower)),
                    identity: self.identity.clone(),
                    ..self.shared(Arc::clone(follower.lease()))
                },
            };
        }
        let lease = self.clone_memory().unwrap_or_else(|error| {
            self.device.context().fault.record(error);
            Arc::clone(self.buffer())
        });
        self.shared(lease)
    }
}

impl fmt::Debug for RawTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor {}{:?} on {:?}", self.dtype, self.shape, self.device.info().name)
    }
}

/// Bytes of a tensor.
///
/// # Errors
/// [`Error::TooLarge`] if the device cannot hold it or kernels cannot index it.
pub(crate) fn tensor_bytes(device: &Device, what: &str, dtype: DType, shape: &Shape) -> Result<u64, Error> {
    checked_bytes(what, dtype, shape.elements(), device.info().limits.binding_bytes)
}

fn length_mismatch(shape: &Shape, found: u64) -> Error {
    Error::LengthMismatch { shape: shape.to_vec(), expected: shape.elements().unwrap_or(u64::MAX), found }
}
