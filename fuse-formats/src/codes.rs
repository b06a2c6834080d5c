//! Common form of all quantized formats: codes, and a scale and an offset per run.
//!
//! [`blocks`](crate::blocks) and [`packed`](crate::packed) produce it; [`import`](crate::import) regroups it.

/// A code `q` means `q·scale + offset`, with those of its run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Codes {
    /// Bits per code: 2 to 8.
    pub(crate) bits: u32,
    /// Neighbors along the packed axis that share a scale and an offset, at least 1. A line's last run may be shorter.
    pub(crate) run: usize,
    /// Row-major in the tensor's shape.
    pub(crate) codes: Vec<u8>,
    /// Row-major in the shape with runs along the packed axis.
    pub(crate) scales: Vec<f32>,
    /// Parallel to `scales`.
    pub(crate) offsets: Vec<f32>,
}
