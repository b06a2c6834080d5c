//! WGSL of every variant of a kernel.
//!
//! Input: a fusion group and a schedule of its family. Output: [`fuse_artifact::Pass`]es. Uniform words and bindings
//! are collected during emission, so that they cannot disagree with the source.
//!
//! Invariant: a shader stays inside the tensors it binds (and every buffer's padding to 16 bytes) whatever the sizes,
//! since bounds checks are off natively.
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
