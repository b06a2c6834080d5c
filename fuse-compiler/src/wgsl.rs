//! WGSL: the text of every variant of a kernel.
//!
//! Input: a fusion group and a schedule of its family. Output: [`fuse_artifact::Pass`]es, whose
//! uniform words and bindings are collected while the text is written, so that they cannot disagree.
//! Invariant: a shader reads and writes only inside the tensors it binds (or the padding to 16 bytes that
//! every buffer has), whatever the sizes, since bounds checks are off natively.
//!
//! Not here: which schedules a kernel has (`schedule`).

pub mod attention;
pub mod builtins;
mod epilogue;
mod expr;
mod gemv;
mod grid;
mod key_loop;
mod loads;
mod matrices;
pub mod names;
mod operand;
pub mod pointwise;
mod quantized;
mod rank_one;
pub mod reduction;
mod row_prologue;
mod row_tile;
pub mod second_pass;
pub mod shader;
mod stage;
mod tiles;
pub mod weighted_sum;
mod weights;

pub use gemv::gemv;
pub use tiles::{row_parts, tiles};
