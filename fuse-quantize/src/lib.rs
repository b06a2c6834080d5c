//! Quantization of weights to 8, 4, 3, 2 and 1 bit on the host.
//!
//! Input: `f32` values with a shape, and a [`QuantScheme`]. Output: [`Quantized`], with words and scales in the layout
//! of `fuse_artifact::Packing`. `scheme` holds the options, `layout` the positions. `statistics` and `search` choose a
//! group's scale and offset, `pair` a value's code; `plain` quantizes a tensor. With known activations, `calibration`
//! collects them, `feedback` chooses codes so that errors cancel in the layer's output, `sweep` refines these, and
//! `refit` adjusts the weights beforehand. Invalid input gives a [`QuantizeError`]. Not here: devices, kernels, and
//! formats of other toolchains (`fuse-formats`).

#![forbid(unsafe_code)]

mod calibration;
mod error;
mod feedback;
mod layout;
mod pair;
mod plain;
mod quantized;
mod refit;
mod row;
mod scheme;
mod search;
mod statistics;
mod sweep;

pub use calibration::Calibration;
pub use error::QuantizeError;
pub use feedback::quantize_calibrated;
pub use fuse_artifact::Packing;
pub use plain::quantize;
pub use quantized::Quantized;
pub use refit::Targets;
pub use scheme::{Granularity, QuantScheme, Rounding, ScaleDType, Symmetry};
