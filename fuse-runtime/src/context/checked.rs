//! Devices whose shaders check each index into an array, for tests (feature `checked`). Buffers then have their exact
//! sizes, and hold poison where nothing was written.
//!
//! The compiler writes the checks (`Dialect::Checked`): such shaders count indices out of bounds and stay inside
//! their arrays, where drivers would hide most of these accesses. Here is the counter. Without the feature, [`Checks`] and its handle have no values, so programs contain none of this code.

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
mod off;
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
mod on;

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
pub(crate) use off::{Checks, SharedChecks};
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
pub(crate) use on::{Checks, SharedChecks};
