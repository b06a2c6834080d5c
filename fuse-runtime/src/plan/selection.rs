//! How a launch is chosen: the tuning, and what tests and tuners force.

use crate::tune::tuning::Applied;

/// How a launch is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// What decides where the rest leaves a choice.
    pub(crate) tuning: &'a Applied,
    /// This alternative of the function (0: the function itself).
    pub(crate) alternative: Option<usize>,
    /// These variants.
    pub(crate) variants: Variants<'a>,
    /// How shaders know sizes.
    pub(crate) sizes: Sizes,
}

/// How the variant of a kernel is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Variants<'a> {
    /// By tables and the cost model.
    #[default]
    Best,
    /// The one of this name in kernels that have one.
    Named(&'a str),
    /// By index, one per kernel.
    Indices(&'a [usize]),
    /// Of one kernel, by the indices of both; of others as [`Variants::Best`].
    #[cfg(feature = "tune")]
    One { kernel: usize, variant: usize },
}

impl<'a> Selection<'a> {
    /// What a tuning chooses.
    pub(crate) fn by(tuning: &'a Applied) -> Self {
        Self { tuning, alternative: None, variants: Variants::Best, sizes: Sizes::Uniform }
    }
}

/// Where shaders have the sizes of a launch from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// A uniform block: pipelines serve all shapes.
    Uniform,
    /// Their text (`specialization`).
    Constant,
}
