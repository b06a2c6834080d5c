//! What every quantized format holds, however it packs them: codes, and a scale and an offset for each run of them.
//!
//! Readers ([`blocks`](crate::blocks), [`packed`](crate::packed)) make it, [`import`](crate::import) regroups it. Not here:
//! how formats store any of them.

/// The codes of a tensor. A code `q` means `q·scale + offset`, with those of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codes {
    /// Bits of a code: 2 to 8.
    pub(crate) bits: u32,
    /// Neighbours along the packed axis that share a scale and an offset, at least 1. The last run of a line may be shorter.
    pub(crate) run: usize,
    /// Row-major of the tensor's shape.
    pub(crate) codes: Vec<u8>,
    /// Row-major of the shape with the number of runs along the packed axis.
    pub(crate) scales: Vec<f32>,
    /// As many.
    pub(crate) offsets: Vec<f32>,
}
