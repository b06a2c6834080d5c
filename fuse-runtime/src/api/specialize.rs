//! Pipelines for the sizes of certain launches.
//!
//! Shaders read sizes, strides and offsets from a uniform block, so that one pipeline serves all shapes. A driver that knows
//! them folds them into addresses, which spares registers and waiting: large products of `f16` gain 15 % on an NVIDIA H200,
//! small ones half a microsecond (`docs/experiments.md`). That costs a compilation for each launch of other shapes, and so it
//! is done only when asked for.
//!
//! Not here: what the texts are (`specialization`).

use std::cell::Cell;

use crate::api::device::Device;

thread_local! {
    /// The address of the device whose launches this thread specializes; 0 for none.
    static OPEN: Cell<usize> = const { Cell::new(0) };
}

impl Device {
    /// Runs `launches`, and compiles the pipelines that they need for exactly their sizes. Later launches of the same
    /// functions with tensors of equal shapes, from any thread, use these pipelines; other shapes use the general ones.
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
    /// The latest 256 combinations of function and shapes keep their pipelines; those before go back to the general ones.
    ///
    /// A driver may take a second for a large kernel; where the adapter has a pipeline cache, a process does that once and
    /// later ones find it on disk. Kernels that read numbers of the host keep their general pipelines. Launches captured
    /// within `launches` are specialized without running ([`capture`](Self::capture)); [`force_variant`](Self::force_variant)
    /// and [`force_alternative`](Self::force_alternative) end it, as they change what runs.
    ///
    /// In browsers launches run as always: their compilers refuse such texts.
    ///
    /// Errors are those of the launches, which `launches` gets.
    pub fn specialize<R>(&self, launches: impl FnOnce() -> R) -> R {
        let _closing = Closing(OPEN.replace(self.address()));
        launches()
    }

    /// Whether this thread specializes launches on this device.
    pub(crate) fn is_specializing(&self) -> bool {
        // Sizes are then values that browsers do not take to be the same for all invocations of a workgroup, so that they
        // refuse barriers in loops over them.
        cfg!(not(target_arch = "wasm32")) && OPEN.get() == self.address()
    }

    fn address(&self) -> usize {
        std::sync::Arc::as_ptr(&self.inner).addr()
    }
}

/// Goes back to what was open before, also when `launches` panics.
struct Closing(usize);

impl Drop for Closing {
    fn drop(&mut self) {
        OPEN.set(self.0);
    }
}
