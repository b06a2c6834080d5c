//! Uploads of host data to storage.
//!
//! Two ways are safe against the open batch: the queue writes a pooled buffer outside of it, before that batch and
//! after earlier ones; otherwise a new buffer is created mapped, in browsers written through the queue.

use std::sync::Arc;

use crate::context::{
    Context,
    error::Error,
    lock::lock,
    pool::{Lease, Start, Storage, Submit},
};

#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    /// The word, repeated to this number of bytes.
    Repeat([u8; 4], u64),
}

impl Source<'_> {
    fn len(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Repeat(_, bytes) => bytes,
        }
    }
}

/// Uploads `source`, padded with zeros to a multiple of 4 bytes.
pub(crate) fn upload(context: &Context, source: Source<'_>) -> Result<Arc<Lease>, Error> {
    context.fault.check()?;
    let bytes = source.len();
    if matches!(source, Source::Repeat([0, 0, 0, 0], _)) || bytes == 0 {
        return zeroed(context, bytes);
    }
    if context.checks.is_some() {
        let lease = context.pool.lease(context.take(bytes)?.0);
        write_through_queue(context, lease.storage(), source)?;
        return Ok(lease);
    }
    let submit: Submit<'_> = &mut || context.submit();
    if let Some(storage) = context.pool.take_idle(bytes, submit)? {
        let lease = context.pool.lease(storage);
        write_through_queue(context, lease.storage(), source)?;
        return Ok(lease);
    }
    // A browser that cannot map a new buffer throws, which wgpu does not expect.
    if cfg!(target_arch = "wasm32") {
        let lease = context.pool.lease(context.pool.take_new(bytes, Start::Zeroed, submit)?);
        write_through_queue(context, lease.storage(), source)?;
        return Ok(lease);
    }
    let lease = context.pool.lease(context.pool.take_new(bytes, Start::Mapped, submit)?);
    write_mapped(context, lease.storage(), source)?;
    Ok(lease)
}

/// Writes `bytes`, after all recorded work.
pub(crate) fn overwrite(context: &Context, lease: &Lease, bytes: &[u8]) -> Result<(), Error> {
    context.fault.check()?;
    // Counted even if the driver refuses a part.
    lease.count_write();
    if !bytes.is_empty() {
        // Queue writes run before the open batch: recorded uses go first.
        lock(&context.recorder).flush_uses(lease.storage());
        write_through_queue(context, lease.storage(), Source::Bytes(bytes))?;
    }
    lease.set_ready();
    Ok(())
}

fn zeroed(context: &Context, bytes: u64) -> Result<Arc<Lease>, Error> {
    let (storage, fresh) = context.take(bytes)?;
    let lease = context.pool.lease(storage);
    if !fresh && bytes > 0 {
        lock(&context.recorder).clear(lease.storage());
    }
    Ok(lease)
}

fn write_through_queue(context: &Context, storage: &Storage, source: Source<'_>) -> Result<(), Error> {
    let Some(size) = wgpu::BufferSize::new(source.len().next_multiple_of(4)) else { return Ok(()) };
    match context.queue.write_buffer_with(&storage.buffer, 0, size) {
        Some(mut view) => fill(view.slice(..), source),
        None => return Err(refused(context)),
    }
    Ok(())
}

fn write_mapped(context: &Context, storage: &Storage, source: Source<'_>) -> Result<(), Error> {
    let size = source.len().next_multiple_of(4);
    match storage.buffer.get_mapped_range_mut(..size) {
        Ok(mut view) => fill(view.slice(..), source),
        Err(_) => return Err(refused(context)),
    }
    storage.buffer.unmap();
    Ok(())
}

fn refused(context: &Context) -> Error {
    let fallback = Error::Internal { message: "the driver gave no memory to write to".into() };
    context.fault.check().err().unwrap_or(fallback)
}

/// Words repeated at once.
const CHUNK: usize = 16 << 10;

fn fill(mut to: wgpu::WriteOnly<'_, [u8]>, source: Source<'_>) {
    match source {
        Source::Bytes(bytes) => {
            to.slice(..bytes.len()).copy_from_slice(bytes);
            let rest = to.len() - bytes.len();
            to.slice(bytes.len()..).copy_from_slice(&[0; 4][..rest]);
        }
        Source::Repeat(word, _) => {
            let chunk = word.repeat(CHUNK);
            let len = to.len();
            for start in (0..len).step_by(chunk.len()) {
                let end = len.min(start + chunk.len());
                to.slice(start..end).copy_from_slice(&chunk[..end - start]);
            }
        }
    }
}
