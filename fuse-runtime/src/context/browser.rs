//! What only browsers have: an event loop that must be woken, features that wgpu does not ask for, and a name.
//!
//! `wake` makes awaited readbacks arrive, `request` opens devices, `identity` says which browser and adapter these are.

pub(crate) mod identity;
pub(crate) mod request;
pub(crate) mod wake;
