//! Second passes: several workgroups shared a sum, and its parts are in scratch memory.
//!
//! A pass adds them and applies the epilogue: of the elements of a product (`sums`), of whole rows where the epilogue reduces them
//! (`rows`, the text of a tile with parts in place of products), of tiles whose depths were cut (`streams`), of an attention, whose parts are scaled first (`attention`). Reductions take
//! states of parts together before each stage that needs them (`reduction/split`).

mod attention;
mod streams;
mod sums;

pub use super::tiles::row_parts as rows;
pub(super) use attention::attention;
pub use streams::streams;
pub use sums::sums;

/// Invocations of a workgroup, each with an element or a vector of four of the result.
const WORKGROUP: u32 = 256;
