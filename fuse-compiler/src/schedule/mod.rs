//! Schedules: in which ways a group may run.
//!
//! Input: a fusion group. Output: the members of its family with what each requires of strides and sizes.
//! Which member runs is decided at launch, by size and adapter. Not here: shader text (`wgsl`).

pub mod attention;
pub mod contraction;
pub mod layout;
pub mod operations;
pub mod pointwise;
pub mod print;
pub mod reduction;
pub mod verify;
pub mod visible;
