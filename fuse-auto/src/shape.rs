//! Shapes of results: numbers when an operation is recorded, symbols when its source is written.

pub(crate) mod infer;
pub(crate) mod symbols;
