//! [`Fault`]: device loss, and errors that no error scope caught.
//!
//! Launches and readbacks call [`Fault::check`] first. Loss is permanent; an uncaught error is reported once.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use crate::context::{error::Error, lock::lock};

#[derive(Debug, Default)]
pub(crate) struct Fault {
    /// `state` holds something: reduces [`Fault::check`] to one load.
    raised: AtomicBool,
    /// Errors of [`Fault::explained`] that may still arrive.
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
    pub(crate) fn watch(device: &wgpu::Device) -> Arc<Self> {
        let fault = Arc::new(Self::default());
        let errors = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| errors.record(error.into())));
        let loss = Arc::clone(&fault);
        device.set_device_lost_callback(move |reason, message| loss.lose(format!("{reason:?}: {message}")));
        fault
    }

    /// The device's loss, or else the uncaught error, once.
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

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Acquire)
    }

    #[cfg(target_arch = "wasm32")]
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.load(Ordering::Acquire) > 0
    }

    /// The first reason stays.
    pub(crate) fn lose(&self, reason: String) {
        lock(&self.state).lost.get_or_insert(reason);
        self.raised.store(true, Ordering::Release);
    }

    /// Keeps an error for the next [`Fault::check`].
    pub(crate) fn record(&self, error: Error) {
        // The first error is the cause; later ones tend to be consequences.
        lock(&self.state).uncaught.get_or_insert(error);
        self.raised.store(true, Ordering::Release);
    }
}

/// The error of `create`. On the web, errors arrive later, uncaught.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn scoped<R>(device: &wgpu::Device, create: impl FnOnce() -> R) -> Result<R, Error> {
    let scopes = open_scopes(device);
    let made = create();
    let errors = close(scopes).into_iter().map(pollster::block_on);
    errors.flatten().next().map_or(Ok(made), |error| Err(error.into()))
}

/// Errors arrive later, as uncaught ones.
#[cfg(target_arch = "wasm32")]
pub(crate) fn scoped<R>(_: &wgpu::Device, create: impl FnOnce() -> R) -> Result<R, Error> {
    Ok(create())
}

impl Fault {
    /// Errors of `create` arrive later, translated by `explain`, as uncaught ones.
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
                lock(&fault.state).uncaught = None;
                fault.record(explain(error.into()));
            }
            fault.awaited.fetch_sub(1, Ordering::AcqRel);
        });
        made
    }
}

fn open_scopes(device: &wgpu::Device) -> [wgpu::ErrorScopeGuard; 3] {
    [wgpu::ErrorFilter::Internal, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Validation]
        .map(|filter| device.push_error_scope(filter))
}

/// Ends the scopes; the caller awaits the errors.
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
