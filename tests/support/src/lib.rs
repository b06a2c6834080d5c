//! Numeric tests: compile programs from source, run them on every adapter with every legal variant, and compare results
//! with the interpreter's ranges.
//!
//! `program` makes programs, `data` their inputs, `devices` opens adapters, `adapter` launches, `compare` judges, and
//! `sweep` combines these. `matrices` runs cooperative matrices in software. `directives`, `operations`, `patterns`,
//! `corpus` and `figures` hold shared programs, `seed` selects random ones, `checkout` finds files.
//!
//! Launches are awaited, so that browsers run the same code.

pub mod adapter;
mod checkout;
pub mod compare;
pub mod corpus;
pub mod data;
#[cfg(not(target_arch = "wasm32"))]
mod devices;
mod directives;
#[cfg(not(target_arch = "wasm32"))]
mod figures;
pub mod matrices;
pub mod operations;
pub mod patterns;
mod program;
mod quantized;
#[cfg(not(target_arch = "wasm32"))]
mod seed;
mod sweep;

pub use checkout::{checkout, scratch};
pub use data::Numbers;
#[cfg(not(target_arch = "wasm32"))]
pub use devices::{devices, wait};
pub use directives::Directives;
#[cfg(not(target_arch = "wasm32"))]
pub use figures::Figures;
pub use fuse_compiler::interp::Value;
pub use program::{Program, SourceFile, compile, expression, file_tests, files, graphs, try_compile};
pub use quantized::middle_codes;
#[cfg(not(target_arch = "wasm32"))]
pub use seed::seed;
#[cfg(not(target_arch = "wasm32"))]
pub use sweep::check;
pub use sweep::{Sweep, Variants, check_on, thorough};
