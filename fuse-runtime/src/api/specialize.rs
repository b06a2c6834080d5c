//! `Device::specialize`: pipelines with the sizes of certain launches as constants.
//!
//! Uniform sizes let one pipeline serve all shapes. A driver that knows them folds them into addresses: large `f16`
//! products gain 15 % on an NVIDIA H200, small ones half a microsecond (`docs/experiments.md`). Each shape costs a
//! compilation: opt-in.
//!
//! Not here: specialized shaders (`context::specialization`).

use std::cell::Cell;

use crate::api::device::Device;

thread_local! {
    /// Address of the device to specialize for; 0 for none.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

impl Device {
    /// Runs `launches` and compiles their pipelines for exactly their sizes.
    ///
    /// Later launches with equal shapes, from any thread, use these pipelines; other shapes use the general ones.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Tensor1};
    /// # fn model(x: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> { Ok(x.clone()) }
    /// # fn main() -> Result<(), Error> {
    /// # let device = Device::blocking()?;
    /// let x = Tensor1::zeros(&device, [1024])?;
    /// device.specialize(|| model(&x))?; // compiles for inputs of 1024
    /// let y = model(&x)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The latest 256 combinations of function and shapes keep their pipelines.
    ///
    /// A driver may take a second for a large kernel; a pipeline cache keeps it on disk. Kernels that read host numbers
    /// keep general pipelines. [Captured](Self::capture) launches are specialized without running.
    /// [`force_variant`](Self::force_variant) and [`force_alternative`](Self::force_alternative) drop the specialized
    /// plans. Browsers run general pipelines: their compilers refuse such shaders.
    ///
    /// `launches` receives the errors.
    pub fn specialize<R>(&self, launches: impl FnOnce() -> R) -> R {
        let _closing = Closing(OPEN.replace(self.address()));
        launches()
    }

    pub(crate) fn is_specializing(&self) -> bool {
        // Browsers do not treat specialized sizes as uniform, and refuse barriers in loops over them.
        cfg!(not(target_arch = "wasm32")) && OPEN.get() == self.address()
    }

    fn address(&self) -> usize {
        std::sync::Arc::as_ptr(&self.inner).addr()
    }
}

/// Restores the outer device, also after panics.
struct Closing(usize);

impl Drop for Closing {
    fn drop(&mut self) {
        OPEN.set(self.0);
    }
}
