//! [`Selection`]: rules by which a launch is chosen.

use crate::tune::tuning::Applied;

/// Rules by which a launch is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// Decides what the other fields leave open.
    pub(crate) tuning: &'a Applied,
    /// A forced alternative (0: the function itself).
    pub(crate) alternative: Option<usize>,
    pub(crate) variants: Variants<'a>,
    pub(crate) sizes: Sizes,
}

/// Rule for the variants of kernels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Variants<'a> {
    /// By tables and the cost model.
    #[default]
    Best,
    /// The variant with this name, in kernels that have it.
    Named(&'a str),
    /// Variant indices, one per kernel.
    Indices(&'a [usize]),
    /// One variant of one kernel, by index; [`Variants::Best`] for others.
    #[cfg(feature = "tune")]
    One { kernel: usize, variant: usize },
}

impl<'a> Selection<'a> {
    /// The choice of a tuning.
    pub(crate) fn by(tuning: &'a Applied) -> Self {
        Self { tuning, alternative: None, variants: Variants::Best, sizes: Sizes::Uniform }
    }
}

/// Source of the sizes in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// A uniform block: pipelines serve all shapes.
    Uniform,
    /// Constants of specialized shaders (`context::specialization`).
    Constant,
}
