//! Schedule families: the legal ways to run a group.
//!
//! Input: a fusion group. Output: its schedules with requirements on strides and sizes. The launch selects one by sizes
//! and adapter. Not here: shaders (`wgsl`).

pub mod attention;
pub mod contraction;
pub mod layout;
pub mod mask_bounds;
pub mod operations;
pub mod pointwise;
pub mod print;
pub mod reduction;
pub mod verify;
pub mod weighted_sum;

/// Maximum loop rounds of an invocation that walks an operand alone. Mesa's lavapipe silently ends an invocation's
/// loops after 65535 rounds in total. Longer loops are worth sharing anyway.
const ROUNDS_ALONE: u32 = 1 << 15;
