//! Shaders that check each index into storage and workgroup arrays, for tests (feature `checked`). Buffers then have
//! their exact sizes, and hold poison where nothing was written.
//!
//! Input: a shader. Output: one that counts indices out of bounds and stays inside its arrays. Drivers hide most such
//! accesses. Without the feature, [`Checks`] and its handle have no values, so programs contain none of this code.

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
mod off;
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
mod on;
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
mod rewrite;

#[cfg(not(all(feature = "checked", not(target_arch = "wasm32"))))]
pub(crate) use off::{Checks, SharedChecks};
#[cfg(all(feature = "checked", not(target_arch = "wasm32")))]
pub(crate) use on::{Checks, SharedChecks};
