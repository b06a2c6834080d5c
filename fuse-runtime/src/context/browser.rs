//! Browsers: an event loop that must be woken, features that wgpu does not request, and names.
//!
//! `wake` speeds up awaited readbacks, `request` opens devices, `identity` tells browser and adapter.

pub(crate) mod identity;
pub(crate) mod request;
pub(crate) mod wake;
