//! Public types: devices, tensors, launches, sequences.
//!
//! - `device`, `builder`, `warm`, `specialize`, `thread_tuning`: devices.
//! - `raw`, `tensor`, `raw_quantized`, `quantized`, `quantizer`: tensors.
//! - `arg`, `operand`, `rank`, `launch`, `pullback`: launches.
//! - `recording`, `capture`, `sequence`: replays.
//! - `search`, `clock`: measured tables (`Device::tune`).

pub(crate) mod arg;
#[cfg(feature = "ndarray")]
mod arrays;
pub(crate) mod builder;
pub(crate) mod capture;
#[cfg(feature = "tune")]
pub(crate) mod clock;
pub(crate) mod code_size;
pub(crate) mod device;
pub(crate) mod kernels;
pub(crate) mod launch;
pub(crate) mod operand;
pub(crate) mod profile;
pub(crate) mod pullback;
pub(crate) mod quantized;
pub(crate) mod quantizer;
pub(crate) mod random;
pub(crate) mod rank;
pub(crate) mod raw;
pub(crate) mod raw_quantized;
pub(crate) mod recording;
#[cfg(all(feature = "reference", not(target_arch = "wasm32")))]
pub mod reference;
#[cfg(feature = "tune")]
pub(crate) mod search;
pub(crate) mod sequence;
mod specialize;
pub(crate) mod tensor;
pub(crate) mod text;
mod thread_tuning;
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
mod violation;
mod warm;
#[cfg(all(feature = "webnn", target_arch = "wasm32"))]
pub(crate) mod webnn;
