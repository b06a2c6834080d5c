//! Launch plans: from a function and shapes to dispatches.
//!
//! A plan has everything constant between launches of equal shapes: pipelines, uniform words, grids, sizes of results
//! and temporaries.
//!
//! - `check`: shapes; `domain`: iteration domains; `require`: legality of variants; `cost`: estimated time.
//! - `candidates`, `split`: legal variants with costs; `key`: names in tuning tables.
//! - `select_plan`: alternatives; `select_variant`: variants; `choose`: both, or what is forced.
//! - `uniforms`: uniform words and grids; `launch_plan`: the plan; `cache`: plans of earlier launches.
//!
//! # Invariants
//! Empty kernels have no steps. The lifetime of a temporary spans all steps that bind it.
//!
//! Not here: buffers and recording (`api::launch`, `context::record`).

pub(crate) mod cache;
pub(crate) mod candidates;
pub(crate) mod check;
pub(crate) mod choose;
pub(crate) mod considered;
pub(crate) mod cost;
pub(crate) mod domain;
pub(crate) mod explain;
pub(crate) mod key;
pub(crate) mod launch_plan;
pub(crate) mod require;
pub(crate) mod select_plan;
pub(crate) mod select_variant;
pub(crate) mod selection;
pub(crate) mod split;
pub(crate) mod uniforms;
