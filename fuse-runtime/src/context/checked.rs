//! Index checks in shaders, for tests (feature `checked`), with exact buffers and poison where not written.
//!
//! Shaders with `Dialect::Checked` count indices out of bounds, which drivers would mostly hide, and stay inside their
//! arrays. Here is the counter. Without the feature, [`Checks`] and its handle have no values: programs contain none of
//! this code.

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
mod off;
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
mod on;

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
pub(crate) use off::{Checks, SharedChecks};
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
pub(crate) use on::{Checks, SharedChecks};
