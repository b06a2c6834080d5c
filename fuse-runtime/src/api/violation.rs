//! The indices that left their arrays, for tests (feature `checked`).

use crate::{api::device::Device, context::error::Error};

impl Device {
    /// For tests: what indices left their arrays since the last call, if any did. `None` as well for a device whose builder
    /// was not asked to check.
    ///
    /// # Errors
    /// [`Error::DeviceLost`], and errors of earlier work.
    pub fn violation(&self) -> Result<Option<String>, Error> {
        let context = self.context();
        let Some(checks) = &context.checks else { return Ok(None) };
        self.synchronize_blocking()?;
        checks.violation(&context.wgpu, &context.queue)
    }
}
