//! Weights to 8, 4, 3, 2 and 1 bit on the host.
//!
//! Input: `f32` values with a shape, and a [`QuantScheme`]. Output: [`Quantized`], the words and scales that kernels read,
//! laid out as `fuse_artifact::Packing` says.
//!
//! Data flows one way: `scheme` says what is wanted, `layout` where everything lies, `statistics` and `search` which scale
//! and offset a group gets, `pair` which code a value gets, and `plain` does it for a tensor. Where activations of the layer
//! are known, `calibration` gathers them, `feedback` chooses codes so that errors cancel in the layer's output, `sweep`
//! refines them, and `refit` finds the weights that are worth quantizing in the first place.
//!
//! Every input may be wrong: the answer is a value or a [`QuantizeError`] that says what was expected and what was found.
//!
//! Not here: devices, kernels that compute with packed weights, and the formats of other toolchains (`fuse-formats`).

#![forbid(unsafe_code)]

mod calibration;
mod error;
mod feedback;
mod layout;
mod pair;
mod plain;
mod quantized;
mod refit;
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
