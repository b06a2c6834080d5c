//! For tests (feature `checked`): shaders that check each index into storage and workgroup arrays, in buffers of exact size
//! that hold poison wherever nothing was written.
//!
//! Input: the text of a shader. Output: one that counts the indices that leave their arrays, and stays inside. Drivers hide
//! most such reads. Without the feature [`Checks`] has no value, and neither has a handle to it, so that nothing of this is in
//! programs.

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
