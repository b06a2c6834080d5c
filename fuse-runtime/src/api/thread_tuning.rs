//! `Device::with_tuning`: tunings of one thread's launches.

use std::{cell::RefCell, sync::Arc};

#[cfg(feature = "tune")]
use crate::context::error::Error;
use crate::{
    api::device::Device,
    context::hardware::Hardware,
    plan::cost::hardware,
    tune::tuning::{Applied, Tuning},
};

thread_local! {
    /// Tunings of this thread's open closures, innermost last.
    static OPEN: RefCell<Vec<(Device, Arc<Applied>)>> = const { RefCell::new(Vec::new()) };
}

impl Device {
    /// Why the table of [`DeviceBuilder::tuning_file`](crate::DeviceBuilder::tuning_file) or
    /// [`DeviceBuilder::tuning_text`](crate::DeviceBuilder::tuning_text) is ignored: damaged, or about another adapter.
    #[cfg(feature = "tune")]
    pub fn tuning_problem(&self) -> Option<&Error> {
        self.inner.tunings.problem.as_ref()
    }

    /// Runs `work`, whose launches on this device from this thread choose variants by `tuning`.
    ///
    /// Also applies to [`explain`](Self::explain), [`warm_up_for`](Self::warm_up_for) and [`capture`](Self::capture)
    /// within `work`. Plans are cached: using a tuning again costs nothing.
    ///
    /// ```no_run
    /// # use fuse_runtime::{Device, Error, Tensor1, Tuning};
    /// # fn layer(x: &Tensor1<f32>) -> Result<Tensor1<f32>, Error> { Ok(x.clone()) }
    /// # fn main() -> Result<(), Error> {
    /// # let device = Device::blocking()?;
    /// # let x = Tensor1::zeros(&device, [1024])?;
    /// let small = Tuning::default().workgroup_size(64);
    /// let y = device.with_tuning(&small, || layer(&x))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_tuning<R>(&self, tuning: &Tuning, work: impl FnOnce() -> R) -> R {
        let applied = self.inner.tunings.applied(tuning, self.info());
        OPEN.with(|open| open.borrow_mut().push((self.clone(), applied)));
        let _guard = Guard;
        work()
    }

    /// Figures of the adapter for the cost model: of the program's table, a built-in one, or its kind.
    pub fn hardware(&self) -> Hardware {
        hardware(&self.applied().info)
    }

    pub(crate) fn applied(&self) -> Arc<Applied> {
        // A thread that ends has no open closures.
        let open = OPEN.try_with(|open| {
            let open = open.borrow();
            open.iter().rev().find(|(device, _)| device.is(self)).map(|(_, applied)| Arc::clone(applied))
        });
        open.ok().flatten().unwrap_or_else(|| Arc::clone(&self.inner.tunings.own))
    }
}

/// Ends the innermost closure, also after panics.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        // Dropped outside of the borrow: a device's last clone runs other code.
        let closed = OPEN.with(|open| open.borrow_mut().pop());
        drop(closed);
    }
}
