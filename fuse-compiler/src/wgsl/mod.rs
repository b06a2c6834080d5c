//! WGSL: the text of every variant of a kernel.
//!
//! Input: a fusion group and a member of its schedule family. Output: [`fuse_artifact::Pass`]es, whose
//! uniform words and bindings are collected while the text is written, so that they cannot disagree.
//! Invariant: a shader reads and writes only inside the tensors it binds (or the padding to 16 bytes that
//! every buffer has), whatever the sizes, since bounds checks are off natively.
//!
//! Not here: which members a kernel has (`schedule`).

pub mod attention;
pub mod builtins;
mod dot;
mod epilogue;
mod expr;
mod few_rows;
mod int8;
pub mod layers;
mod loads;
pub mod names;
mod operand;
mod operand_rows;
pub mod pointwise;
mod quantized;
mod rank_one;
pub mod reduction;
mod row;
mod runs;
pub mod shader;
mod tiles;
mod weights;
mod words;

pub use dot::dot;
pub use epilogue::finish;
pub use few_rows::few_rows;
pub use row::row;
pub use tiles::{finish_rows, finish_streams, tiles};
pub use words::words;
