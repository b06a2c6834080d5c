//! Indices out of bounds, for tests (feature `checked`).

use crate::{api::device::Device, context::error::Error};

impl Device {
    /// Indices out of bounds since the last call, for tests. `None` without checks, too.
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
