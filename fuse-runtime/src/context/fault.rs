//! What went wrong behind the caller's back: device loss, and errors that no error scope caught.
//!
//! Input: wgpu's callbacks. Output: [`Fault::check`], which launches and readbacks call first. Loss is for good;
//! an uncaught error is reported once.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use crate::context::{error::Error, lock::lock};

/// The faults of one device.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    /// Whether `state` holds anything: keeps [`Fault::check`] to one load.
    raised: AtomicBool,
    /// How many errors of [`Fault::explained`] may still arrive.
    #[cfg(target_arch = "wasm32")]
    awaited: std::sync::atomic::AtomicUsize,
    state: Mutex<FaultState>,
}

#[derive(Debug, Default)]
struct FaultState {
    lost: Option<String>,
    uncaught: Option<Error>,
}

impl Fault {
    /// Installs the callbacks on `device`.
    pub(crate) fn watch(device: &wgpu::Device) -> Arc<Self> {
        let fault = Arc::new(Self::default());
        let errors = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| errors.record(error.into())));
        let loss = Arc::clone(&fault);
        device.set_device_lost_callback(move |reason, message| loss.lose(format!("{reason:?}: {message}")));
        fault
    }

    /// An error if the device is lost or if an uncaught error waits to be reported.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !self.raised.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = lock(&self.state);
        if let Some(reason) = &state.lost {
            return Err(Error::DeviceLost { reason: reason.clone() });
        }
        self.raised.store(false, Ordering::Release);
        state.uncaught.take().map_or(Ok(()), Err)
    }

    /// Whether [`Fault::check`] has something to say.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }

    /// Whether errors of [`Fault::explained`] may still arrive.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::Acquire) > 0
    }

    /// Records that the device is gone. The first reason stays.
    pub(crate) fn lose(&self, reason: String) {
        lock(&self.state).lost.get_or_insert(reason);
        self.raised.store(true, Ordering::Release);
    }

    /// Keeps an error for the next [`Fault::check`].
    pub(crate) fn record(&self, error: Error) {
        // The first error is the cause; later ones tend to follow from it.
        lock(&self.state).uncaught.get_or_insert(error);
        self.raised.store(true, Ordering::Release);
    }
}

/// Runs `create`, which makes wgpu objects, and returns the error it raised, if any.
///
/// On the web errors arrive later than this returns; there they reach [`Fault`] as uncaught errors.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn scoped<R>(device: &wgpu::Device, create: impl FnOnce() -> R) -> Result<R, Error> {
    let scopes = open_scopes(device);
    let made = create();
    // Natively the answers are there at once.
    let errors = close(scopes).into_iter().map(pollster::block_on);
    errors.flatten().next().map_or(Ok(made), |error| Err(error.into()))
}

/// As natively, without the error.
#[cfg(target_arch = "wasm32")]
pub(crate) fn scoped<R>(_: &wgpu::Device, create: impl FnOnce() -> R) -> Result<R, Error> {
    Ok(create())
}

impl Fault {
    /// Runs `create`, which makes wgpu objects. The error that it raises arrives later: what `explain` makes of it is then
    /// an uncaught error.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn explained<R>(
        self: &Arc<Self>,
        device: &wgpu::Device,
        create: impl FnOnce() -> R,
        explain: impl FnOnce(Error) -> Error + 'static,
    ) -> R {
        let scopes = open_scopes(device);
        let made = create();
        let errors = close(scopes);
        let fault = Arc::clone(self);
        fault.awaited.fetch_add(1, Ordering::AcqRel);
        wasm_bindgen_futures::spawn_local(async move {
            let mut first = None;
            for error in errors {
                first = first.or(error.await);
            }
            if let Some(error) = first {
                // What else went wrong meanwhile tends to follow from it.
                lock(&fault.state).uncaught = None;
                fault.record(explain(error.into()));
            }
            fault.awaited.fetch_sub(1, Ordering::AcqRel);
        });
        made
    }
}

/// Scopes for every kind of error.
fn open_scopes(device: &wgpu::Device) -> [wgpu::ErrorScopeGuard; 3] {
    [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter))
}

/// Ends the scopes; what they caught is for the caller to await.
fn close(scopes: [wgpu::ErrorScopeGuard; 3]) -> Vec<impl Future<Output = Option<wgpu::Error>> + use<>> {
    scopes.into_iter().rev().map(wgpu::ErrorScopeGuard::pop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncaught_errors_are_reported_once_and_loss_forever() {
        let fault = Fault::default();
        assert_eq!(fault.check(), Ok(()));
        fault.record(Error::ProfileActive);
        fault.record(Error::OutOfMemory { bytes: 1 });
        assert_eq!(fault.check(), Err(Error::ProfileActive));
        assert_eq!(fault.check(), Ok(()));
        fault.lose("first".into());
        fault.lose("second".into());
        for _ in 0..2 {
            assert_eq!(fault.check(), Err(Error::DeviceLost { reason: "first".into() }));
        }
    }
}
