//! [`Kernels`]: the value of a module's `KERNELS`.

use std::ops::Deref;

use fuse_artifact::{Function, Kernel};

/// Kernels of a `fuse!` function in dispatch order: a slice of [`Kernel`]s, with WGSL and bindings.
///
/// Has those of every choice of element types. [`Device::warm_up`](crate::Device::warm_up) takes it, because it also
/// knows the alternatives.
#[derive(Debug)]
pub struct Kernels {
    functions: &'static [&'static Function],
    kernels: &'static [&'static Kernel],
}

impl Kernels {
    /// Wraps artifacts. Only generated code and tests call this.
    #[doc(hidden)]
    pub const fn new(functions: &'static [&'static Function], kernels: &'static [&'static Kernel]) -> Self {
        Self { functions, kernels }
    }

    /// The artifacts: one for each choice of element types.
    pub fn functions(&self) -> &'static [&'static Function] {
        self.functions
    }
}

impl Deref for Kernels {
    type Target = [&'static Kernel];

    fn deref(&self) -> &Self::Target {
        self.kernels
    }
}

impl IntoIterator for &Kernels {
    type Item = &'static &'static Kernel;
    type IntoIter = std::slice::Iter<'static, &'static Kernel>;

    fn into_iter(self) -> Self::IntoIter {
        self.kernels.iter()
    }
}
