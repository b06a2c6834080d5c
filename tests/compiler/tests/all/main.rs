//! Tests of compiler output without an adapter, and of the repository's rules (`tidy`, `circles`).

mod backends;
mod circles;
mod definitions;
mod dialects;
mod figures;
mod golden;
mod goldens;
mod names;
mod schedules;
mod shader_text;
mod tidy;

use fuse_test_support::checkout as root;
