//! The tensor beneath [`Tensor`](crate::Tensor): dtype and rank are values, not types.

use std::{fmt, sync::Arc};

use fuse_artifact::DType;

use crate::{
    Device, Error, capture,
    lock::lock,
    pool::Lease,
    readback,
    shape::Shape,
    upload::{Source, overwrite, upload},
};

/// A contiguous tensor whose dtype and rank are known at run time. Cloning shares the memory.
#[derive(Clone)]
pub struct RawTensor {
    device: Device,
    buffer: Arc<Lease>,
    dtype: DType,
    shape: Shape,
}

impl RawTensor {
    /// A tensor from the bytes of its elements (a `bool` takes four).
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
        capture::forbid(device, "making a tensor of host data")?;
        Ok(Self::from_parts(device, upload(device, source)?, dtype, shape))
    }

    /// Replaces the values by those of `bytes`, after all work recorded so far.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`], [`Error::DeviceLost`], [`Error::Capturing`] within [`Device::capture`].
    pub fn overwrite(&self, bytes: &[u8]) -> Result<(), Error> {
        if self.bytes() != bytes.len() as u64 {
            return Err(length_mismatch(&self.shape, bytes.len() as u64 / self.dtype.bytes()));
        }
        capture::forbid(&self.device, "writing to a tensor")?;
        overwrite(&self.device, &self.buffer, bytes)
    }

    /// The same values in memory of their own.
    ///
    /// # Errors
    /// Those of allocation, [`Error::NotReplayed`], [`Error::Capturing`] within [`Device::capture`].
    pub fn copy(&self) -> Result<Self, Error> {
        capture::forbid(&self.device, "copying a tensor")?;
        if !self.buffer.is_ready() {
            return Err(Error::NotReplayed { what: format!("a tensor of {}{:?}", self.dtype, self.shape()) });
        }
        let inner = &self.device.inner;
        inner.fault.check()?;
        let lease = inner.pool.lease(inner.take(self.bytes())?.0);
        if self.bytes() > 0 {
            // Buffers hold whole words.
            let bytes = self.bytes().next_multiple_of(4);
            lock(&inner.recorder).copy(self.buffer.storage(), lease.storage(), bytes);
        }
        Ok(Self::from_parts(&self.device, lease, self.dtype, self.shape))
    }

    pub(crate) fn from_parts(device: &Device, buffer: Arc<Lease>, dtype: DType, shape: Shape) -> Self {
        Self { device: device.clone(), buffer, dtype, shape }
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
        // A tensor that exists fits memory.
        self.shape.elements().unwrap_or(0) as usize
    }

    /// The bytes of its elements, without padding.
    pub fn bytes(&self) -> u64 {
        self.elements() as u64 * self.dtype.bytes()
    }

    /// The same elements seen with another shape.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if that shape holds another number of elements.
    pub fn reshape(&self, dims: &[usize]) -> Result<Self, Error> {
        let shape = Shape::new(dims)?;
        if shape.elements() != Some(self.elements() as u64) {
            return Err(length_mismatch(&shape, self.elements() as u64));
        }
        Ok(Self { shape, ..self.clone() })
    }

    /// The bytes of its elements, read back.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], [`Error::Readback`], and errors of earlier work.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn to_bytes_blocking(&self) -> Result<Vec<u8>, Error> {
        readback::read_blocking(self, <[u8]>::to_vec)
    }

    /// The bytes of its elements, read back.
    ///
    /// # Errors
    /// As [`to_bytes_blocking`](Self::to_bytes_blocking).
    pub async fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        readback::read(self, <[u8]>::to_vec).await
    }

    /// How often the values were replaced since the tensor was made: by [`overwrite`](Self::overwrite), by launches into it or that
    /// update it, by replays of sequences with such launches or whose result it is. Clones and reshaped tensors share the number.
    pub fn writes(&self) -> u64 {
        self.buffer.writes()
    }

    /// How many hold the memory: this tensor, its clones and reshaped ones, and each sequence that uses it.
    pub fn lease_holders(&self) -> usize {
        Arc::strong_count(&self.buffer)
    }

    pub(crate) fn dims(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn with_shape(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }

    pub(crate) fn buffer(&self) -> &Arc<Lease> {
        &self.buffer
    }
}

impl fmt::Debug for RawTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor {}{:?} on {:?}", self.dtype, self.shape, self.device.info().name)
    }
}

/// The bytes of a tensor, if the device can hold it and kernels can index it.
pub(crate) fn tensor_bytes(device: &Device, what: &str, dtype: DType, shape: &Shape) -> Result<u64, Error> {
    checked_bytes(what, dtype, shape.elements(), device.info().limits.binding_bytes)
}

/// `elements` of `dtype` in bytes, if their indices fit 32 bits and they fit a binding of `allowed` bytes.
pub(crate) fn checked_bytes(what: &str, dtype: DType, elements: Option<u64>, allowed: u64) -> Result<u64, Error> {
    let too_large = |limit, needed, allowed| Error::TooLarge { what: what.to_owned(), limit, needed, allowed };
    let elements = elements.unwrap_or(u64::MAX);
    if elements > u64::from(u32::MAX) {
        return Err(too_large("elements of a tensor", elements, u32::MAX.into()));
    }
    let bytes = elements * dtype.bytes();
    if bytes > allowed {
        return Err(too_large("bytes of a tensor on this adapter", bytes, allowed));
    }
    Ok(bytes)
}

fn length_mismatch(shape: &Shape, found: u64) -> Error {
    Error::LengthMismatch { shape: shape.to_vec(), expected: shape.elements().unwrap_or(u64::MAX), found }
}
