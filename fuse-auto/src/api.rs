//! Public interface: record, evaluate, configure and explain.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod benchmark;
pub(crate) mod dim;
pub(crate) mod evaluation;
pub(crate) mod explain;
pub(crate) mod lazy;
pub(crate) mod methods;
pub(crate) mod operand;
pub(crate) mod persistence;
mod record;
pub(crate) mod sequence;
