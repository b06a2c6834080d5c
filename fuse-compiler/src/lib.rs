//! The `fuse!` compiler. Data flows one way through the stages:
//!
//! ```text
//! tokens -> syntax::ast -> graph -> fusion groups -> schedules -> wgsl -> validated artifact
//! ```
//!
//! `front` calls all stages up to the graph, `compile` the rest. Programs that compile while they run leave out the
//! feature `validate`, and with it naga: wgpu validates there.

pub mod arena;
pub mod compile;
pub mod fusion;
pub mod grad;
pub mod graph;
pub mod interp;
pub mod kernel;
pub mod operations;
pub mod plan;
pub mod schedule;
pub mod span;
#[cfg(feature = "validate")]
pub mod validate;
pub mod webnn;
pub mod wgsl;

#[cfg(feature = "syntax")]
pub mod diag;
#[cfg(feature = "syntax")]
pub mod front;
#[cfg(feature = "syntax")]
pub mod syntax;
