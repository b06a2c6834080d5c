//! Schedules: in which ways a group may run.
//!
//! Input: a fusion group. Output: the schedules of its family with what each requires of strides and sizes.
//! Which schedule runs is decided at launch, by size and adapter. Not here: shader text (`wgsl`).

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

/// Rounds of loops that an invocation may take where it walks all of an operand alone. Mesa's lavapipe silently ends the loops of
/// an invocation after 65535 rounds in all; and what is longer than this is worth sharing.
const ROUNDS_ALONE: u32 = 1 << 15;
