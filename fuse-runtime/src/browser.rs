//! What only browsers have: an event loop that must be woken, features that wgpu does not ask for, and a name.
//!
//! `wake` makes awaited readbacks arrive, `request` opens devices, `identity` says which browser and adapter these are.

mod identity;
mod request;
mod wake;

#[cfg(feature = "subgroup-matrix")]
pub(crate) use self::identity::matrices;
#[cfg(feature = "webnn")]
pub(crate) use self::identity::property;
pub(crate) use self::{
    identity::{describe, environment, has_packed_dot},
    request::{AdapterRequest, request_device},
    wake::{MOMENT, WHILE, hurry, patience, until},
};
