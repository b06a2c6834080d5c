//! Tests of compiler output without an adapter, and of the repository's rules (`tidy`, `circles`).
//!
//! Shaders and plans are compared with goldens (`goldens`) and pass through every back end of naga (`backends`). Names are
//! checked against words of WGSL (`names`), schedule names against tables (`schedules`). Semantics are compared with PyTorch
//! (`definitions`), gradients with PyTorch and JAX (`figures`).

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
