//! Shapes of results: extents are numbers when an operation is recorded, and symbols when its source is written.

pub(crate) mod infer;
pub(crate) mod symbols;
