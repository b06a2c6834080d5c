//! [`Selection`]: rules by which a launch is chosen.

use crate::tune::tuning::Applied;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// Decides what other fields leave open.
    pub(crate) tuning: &'a Applied,
    /// Forced alternative (0: the function itself).
    pub(crate) alternative: Option<usize>,
    pub(crate) variants: Variants<'a>,
    pub(crate) sizes: Sizes,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Variants<'a> {
    #[default]
    Best,
    /// By name, in kernels that have it.
    Named(&'a str),
    /// Indices, one per kernel.
    Indices(&'a [usize]),
    /// One kernel's variant, by index; [`Variants::Best`] for others.
    #[cfg(feature = "tune")]
    One { kernel: usize, variant: usize },
}

impl<'a> Selection<'a> {
    pub(crate) fn by(tuning: &'a Applied) -> Self {
        Self { tuning, alternative: None, variants: Variants::Best, sizes: Sizes::Uniform }
    }
}

/// Source of sizes in shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// Pipelines serve all shapes.
    Uniform,
    /// In specialized shaders (`context::specialization`).
    Constant,
}
